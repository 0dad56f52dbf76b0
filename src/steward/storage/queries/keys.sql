-- name: add_key
INSERT INTO api_keys (id, name, role, user_id, digest, created_at)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (name) DO NOTHING
RETURNING true;

-- name: get_key
SELECT id, name, role, user_id, digest, created_at FROM api_keys WHERE id = $1;

-- name: list_keys
SELECT id, name, role, user_id, digest, created_at FROM api_keys ORDER BY created_at, id;

-- name: set_role
UPDATE api_keys SET role = $2 WHERE id = $1 RETURNING true;

-- name: remove_key
DELETE FROM api_keys WHERE id = $1 RETURNING true;
