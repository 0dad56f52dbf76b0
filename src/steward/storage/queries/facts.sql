-- name: add_fact
INSERT INTO facts (id, user_id, text, fingerprint, source, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (user_id, fingerprint) WHERE removed_at IS NULL DO NOTHING
RETURNING true;

-- name: find_fact
SELECT id, user_id, text, source, created_at
FROM facts
WHERE user_id = $1 AND fingerprint = $2 AND removed_at IS NULL;

-- name: list_facts
SELECT id, user_id, text, source, created_at
FROM facts
WHERE user_id = $1 AND removed_at IS NULL
    AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3))
ORDER BY created_at DESC, id DESC
LIMIT $4;

-- name: remove_fact
-- For good: what is forgotten is gone.
DELETE FROM facts WHERE user_id = $1 AND id = $2 AND removed_at IS NULL RETURNING true;

-- name: erase_facts
DELETE FROM facts WHERE user_id = $1;
