-- name: forget_long_calls
DELETE FROM long_calls WHERE created_at < now() - $1::interval;

-- name: begin_long_call
INSERT INTO long_calls (id, caller, user_id) VALUES ($1, $2, $3);

-- name: beat_long_call
WITH before AS (SELECT id, answers, stopping FROM long_calls WHERE id = $1 AND state = 'working' FOR UPDATE)
UPDATE long_calls c
SET note = $2, questions = $3, answers = '{}', beat_at = now(),
    changed_at = CASE WHEN c.note IS DISTINCT FROM $2 OR c.questions <> $3 THEN now() ELSE c.changed_at END
FROM before WHERE c.id = before.id
RETURNING before.answers, before.stopping;

-- name: end_long_call
UPDATE long_calls SET state = $2, note = $3, outcome = $4, questions = '{}', answers = '{}', changed_at = now()
WHERE id = $1 AND state = 'working';

-- name: get_long_call
SELECT id, state, note, questions, outcome, created_at, changed_at,
       state = 'working' AND beat_at < now() - $4::interval AS left_behind
FROM long_calls WHERE id = $1 AND caller = $2 AND user_id = $3;

-- name: answer_long_call
UPDATE long_calls SET answers = CASE state WHEN 'working' THEN array_append(answers, $4::bytea) ELSE answers END
WHERE id = $1 AND caller = $2 AND user_id = $3 RETURNING true;

-- name: stop_long_call
UPDATE long_calls SET stopping = true WHERE id = $1 AND caller = $2 AND user_id = $3 RETURNING true;
