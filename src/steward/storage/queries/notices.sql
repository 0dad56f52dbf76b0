-- name: lock_reminder
WITH owner AS MATERIALIZED (
    SELECT users.id, users.time_zone FROM users JOIN tasks ON tasks.user_id = users.id
    WHERE tasks.id = $1 FOR KEY SHARE OF users
)
SELECT tasks.*, owner.time_zone, clock_timestamp() AS clock FROM owner JOIN tasks ON tasks.user_id = owner.id WHERE tasks.id = $1
FOR UPDATE OF tasks;

-- name: mark_told
UPDATE tasks SET tell_at = $2, notify_set_at = NULL WHERE id = $1;

-- name: add_notice
INSERT INTO notices (id, user_id, kind, source, due, title, text, conversation, proposal_id, made_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (source, due) DO NOTHING
RETURNING *;

-- name: put_notice
INSERT INTO notices (id, user_id, kind, source, due, title, text, conversation, proposal_id, made_at)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10 WHERE EXISTS (SELECT FROM users WHERE id = $2)
ON CONFLICT (source, due) DO NOTHING;

-- name: untold_notices
SELECT * FROM notices WHERE user_id = $1 AND kind = $2 AND seen_at IS NULL ORDER BY number LIMIT 10;

-- name: notice_of
SELECT * FROM notices WHERE source = $1 AND due = $2;

-- name: list_notices
SELECT * FROM notices
WHERE user_id = $1 AND number > $2 AND (NOT $3 OR seen_at IS NULL)
ORDER BY CASE WHEN $5 THEN -number ELSE number END LIMIT $4;

-- name: latest_notice
SELECT coalesce(max(number), 0) FROM notices;

-- name: newer_notices
SELECT * FROM notices WHERE number > $1 ORDER BY number LIMIT $2;

-- name: see_notice
UPDATE notices SET seen_at = coalesce(seen_at, $3) WHERE user_id = $1 AND id = $2 RETURNING *;

-- name: note_delivery
UPDATE notices SET deliveries = deliveries || jsonb_build_object($2::text, $3::jsonb) WHERE id = $1;

-- name: next_tellings
-- What is to be told until a moment, the earliest first.
SELECT id, tell_at FROM tasks WHERE tell_at <= $1 ORDER BY tell_at LIMIT $2;

-- name: addresses_of
SELECT medium, address FROM notice_addresses WHERE user_id = $1 ORDER BY medium;

-- name: put_address
INSERT INTO notice_addresses (user_id, medium, address) VALUES ($1, $2, $3)
ON CONFLICT (user_id, medium) DO UPDATE SET address = EXCLUDED.address;

-- name: remove_address
DELETE FROM notice_addresses WHERE user_id = $1 AND medium = $2 RETURNING true;
