-- name: lately_answered
SELECT id, user_id, text, choices, asked_at, answer, answered_by, answered_at
FROM questions
WHERE user_id = $1 AND md5(text) = md5($2) AND text = $2 AND answered_at > now() - $3::interval
ORDER BY answered_at DESC
LIMIT 1;

-- name: ask_question
INSERT INTO questions (id, user_id, text, choices)
VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id, md5(text)) WHERE answer IS NULL DO UPDATE SET choices = EXCLUDED.choices
RETURNING id, user_id, text, choices, asked_at, answer, answered_by, answered_at;

-- name: waiting_questions
SELECT id, user_id, text, choices, asked_at, answer, answered_by, answered_at
FROM questions
WHERE answer IS NULL AND ($3::text IS NULL OR user_id = $3)
    AND ($2::text IS NULL OR (asked_at, id) > (SELECT asked_at, id FROM questions WHERE id = $2))
ORDER BY asked_at, id
LIMIT $1;

-- name: answer_question
UPDATE questions SET answer = $2, answered_by = $3, answered_at = now()
WHERE id = $1 AND answer IS NULL
RETURNING id, user_id, text, choices, asked_at, answer, answered_by, answered_at;

-- name: get_question
SELECT id, user_id, text, choices, asked_at, answer, answered_by, answered_at FROM questions WHERE id = $1;
