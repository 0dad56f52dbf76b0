-- name: create_conversation
INSERT INTO conversations (id, user_id, agent, title, claimed_by)
SELECT $1, users.id, $3, $4, $5 FROM users WHERE users.id = $2 FOR KEY SHARE
RETURNING id, user_id, agent, title, created_at, updated_at, history, pending, true AS running;

-- name: claim_conversation
-- For one turn at a time. A claim whose program is gone holds nobody up.
UPDATE conversations SET claimed_by = $3, stop_requested = false
WHERE id = $1 AND user_id = $2
    AND (claimed_by IS NULL OR claimed_by = $3 OR NOT program_lives(claimed_by))
RETURNING id, user_id, agent, title, created_at, updated_at, history, pending, true AS running;

-- name: release_conversation
UPDATE conversations SET claimed_by = NULL WHERE id = $1 AND claimed_by = $2;

-- name: request_stop
UPDATE conversations SET stop_requested = true
WHERE id = $1 AND user_id = $2 AND claimed_by IS NOT NULL AND program_lives(claimed_by)
RETURNING true;

-- name: stops_requested
SELECT id FROM conversations WHERE id = ANY ($1::text[]) AND claimed_by = $2 AND stop_requested;

-- name: append_turn
WITH kept AS (
    UPDATE conversations
    SET history = $3, pending = $4, thread = $5, updated_at = now(), claimed_by = NULL
    WHERE id = $1 AND claimed_by = $2
    RETURNING id, user_id
)
INSERT INTO conversation_turns (conversation_id, number, user_id, said, speaker, answer)
SELECT kept.id, (SELECT coalesce(max(number), 0) + 1 FROM conversation_turns WHERE conversation_id = $1),
    kept.user_id, $6, $7, $8
FROM kept
RETURNING true;

-- name: get_conversation
SELECT id, user_id, agent, title, created_at, updated_at, history, pending,
    claimed_by IS NOT NULL AND program_lives(claimed_by) AS running
FROM conversations
WHERE id = $1 AND user_id = $2;

-- name: latest_turns
SELECT number, said, speaker, answer, at
FROM conversation_turns
WHERE conversation_id = $1
ORDER BY number DESC
LIMIT $2;

-- name: list_conversations
SELECT id, user_id, agent, title, created_at, updated_at, '[]' AS history, pending,
    claimed_by IS NOT NULL AND program_lives(claimed_by) AS running
FROM conversations
WHERE user_id = $1 AND ($2::timestamptz IS NULL OR (updated_at, id) < ($2, $3))
ORDER BY updated_at DESC, id DESC
LIMIT $4;

-- name: find_thread
SELECT id FROM conversations WHERE user_id = $1 AND thread = $2 ORDER BY updated_at DESC LIMIT 1;

-- name: delete_conversation
DELETE FROM conversations WHERE id = $1 AND user_id = $2 RETURNING true;
