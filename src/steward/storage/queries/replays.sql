-- name: forget_replays
DELETE FROM request_replays WHERE at < now() - $1::interval;

-- name: claim_replay
INSERT INTO request_replays (caller, key, user_id, request) VALUES ($1, $2, $3, $4)
ON CONFLICT (caller, key) DO NOTHING
RETURNING true;

-- name: get_replay
SELECT request, status, headers, body FROM request_replays WHERE caller = $1 AND key = $2;

-- name: keep_replay
UPDATE request_replays SET status = $3, headers = $4, body = $5 WHERE caller = $1 AND key = $2;

-- name: release_replay
DELETE FROM request_replays WHERE caller = $1 AND key = $2 AND status IS NULL;
