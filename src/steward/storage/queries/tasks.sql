-- name: get_user
SELECT id, name, time_zone FROM users WHERE id = $1;

-- name: add_user
INSERT INTO users (id, name, time_zone) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING RETURNING true;

-- name: list_users
SELECT id, name, time_zone FROM users ORDER BY created_at, id;

-- name: move_reminders
-- A reminder for the morning of a day is one for the morning where its owner is; moments stay what they are.
UPDATE tasks SET tell_at = (tell_at AT TIME ZONE users.time_zone) AT TIME ZONE $2
FROM users
WHERE users.id = $1 AND user_id = $1 AND tell_at IS NOT NULL AND notify_set_at IS NULL AND NOT due_has_time;

-- name: change_user
UPDATE users SET name = $2, time_zone = $3 WHERE id = $1 RETURNING true;

-- name: erase_user
SELECT erase_user($1);

-- name: lock_user
-- One undo of a user at a time; changes go on meanwhile.
SELECT true FROM users WHERE id = $1 FOR NO KEY UPDATE;

-- name: add_task
-- One statement: the task, its first event and how it is taken back, or nothing. The table's own constraints check the owner and the key:
-- a check of ours would lock the owner's row a second time.
WITH made AS (
    INSERT INTO tasks (id, user_id, title, description, due_at, due_on, due_has_time, priority, recurrence,
                       idempotency_key, created_at, updated_at, notify, notify_set_at, tell_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $13, $14, $15)
), event AS (
    INSERT INTO task_events (task_id, user_id, at, action, after) VALUES ($1, $2, $11, 'added', $12) RETURNING id
), noted AS (
    INSERT INTO undo_steps (change, user_id, tool, role, words, kind, thing, data)
    SELECT $16, $2, $17, 'use', $18, 'task', 'tasks:' || $1::text,
        jsonb_build_object('task', $1::text, 'before', NULL, 'events', 1)
    FROM event WHERE $16::text IS NOT NULL
)
SELECT time_zone FROM users WHERE id = $2;

-- name: task_by_key
SELECT tasks.*, users.time_zone FROM tasks JOIN users ON users.id = tasks.user_id
WHERE tasks.user_id = $1 AND tasks.idempotency_key = $2;

-- name: get_task
SELECT tasks.*, users.time_zone FROM tasks JOIN users ON users.id = tasks.user_id
WHERE tasks.id = $2 AND tasks.user_id = $1;

-- name: why_refused
SELECT EXISTS (SELECT FROM users WHERE id = $1) AS user_known,
    EXISTS (SELECT FROM tasks WHERE id = $2 AND user_id <> $1) AS somebody_elses;

-- name: lock_task
-- The owner first, as everywhere, so that a change and an erasure never wait for each other.
WITH owner AS MATERIALIZED (
    SELECT id, time_zone FROM users WHERE id = $1 FOR KEY SHARE
)
SELECT tasks.*, owner.time_zone FROM owner JOIN tasks ON tasks.user_id = owner.id WHERE tasks.id = $2
FOR UPDATE OF tasks;

-- name: list_tasks
SELECT tasks.*, users.time_zone FROM tasks JOIN users ON users.id = tasks.user_id
WHERE tasks.user_id = $1
    AND ($2::boolean IS NULL OR (completed_at IS NOT NULL) = $2)
    AND ($3::text IS NULL OR priority = $3)
    AND ($4::date IS NULL OR due_on < $4)
    -- A day without a time is before a moment once it is over where its owner lives.
    AND ($5::timestamptz IS NULL OR CASE WHEN due_has_time THEN due_at < $5
        ELSE due_on < ($5 AT TIME ZONE users.time_zone)::date END)
    AND ($6::date IS NULL OR due_on > $6)
    AND ($7::timestamptz IS NULL OR due_at > $7)
    AND ($8::text IS NULL OR title ILIKE $8 OR description ILIKE $8)
ORDER BY completed_at IS NOT NULL, due_at NULLS LAST,
    CASE priority WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END, tasks.created_at, tasks.id
LIMIT $9 OFFSET $10;

-- name: save_task
UPDATE tasks
SET title = $2, description = $3, due_at = $4, due_on = $5, due_has_time = $6, priority = $7, recurrence = $8,
    completed_at = $9, updated_at = $10, notify = $11, notify_set_at = $12, tell_at = $13
WHERE id = $1;

-- name: add_event
INSERT INTO task_events (task_id, user_id, at, action, before, after) VALUES ($1, $2, $3, $4, $5, $6)
RETURNING id, task_id, at, action, before, after, undone;

-- name: owner_and_title
SELECT user_id, title FROM tasks WHERE id = $1;

-- name: delete_task
-- What was told of it goes with it.
WITH told AS (DELETE FROM notices WHERE user_id = $1 AND source = $2)
DELETE FROM tasks USING users WHERE tasks.id = $2 AND tasks.user_id = $1 AND users.id = $1
RETURNING tasks.*, users.time_zone;

-- name: task_history
SELECT id, task_id, at, action, before, after, undone FROM task_events WHERE task_id = $1 ORDER BY id;

-- name: standing_events
SELECT count(*) FROM task_events WHERE task_id = $1 AND NOT undone AND action <> 'undone';

-- name: mark_undone
UPDATE task_events SET undone = true WHERE id = $1;
