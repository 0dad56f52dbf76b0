-- name: record_gap
INSERT INTO gaps (user_id, missing, task, agent)
VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id, missing) DO UPDATE
SET task = excluded.task, agent = excluded.agent, times = gaps.times + 1, last_at = now();

-- name: list_gaps
SELECT user_id, missing, task, agent, times, first_at, last_at
FROM gaps
WHERE user_id = $1
ORDER BY times DESC, last_at DESC, missing
LIMIT $2 OFFSET $3;
