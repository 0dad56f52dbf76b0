-- name: vectors
SELECT digest, vector FROM text_vectors WHERE embedder = $1 AND digest = any($2::text[]);

-- name: keep_vectors
INSERT INTO text_vectors (embedder, digest, vector)
VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING;

-- name: learn
INSERT INTO tool_requests (user_id, tool, request)
VALUES ($1, $2, $3)
ON CONFLICT (user_id, tool, request) DO UPDATE SET times = tool_requests.times + 1, used_at = now();

-- name: forget
DELETE FROM tool_requests WHERE user_id = $1;

-- name: learned
SELECT tool, request FROM tool_requests ORDER BY used_at DESC LIMIT $1;
