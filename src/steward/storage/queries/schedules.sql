-- name: lock_owner
SELECT true FROM users WHERE id = $1 FOR NO KEY UPDATE;

-- name: count_schedules
SELECT count(*) FROM schedules WHERE user_id = $1;

-- name: add_schedule
INSERT INTO schedules (id, user_id, request, agent, said, starts, rule, next_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: list_schedules
SELECT schedules.*, users.time_zone FROM schedules JOIN users ON users.id = schedules.user_id
WHERE schedules.user_id = $1 ORDER BY schedules.created_at, schedules.id;

-- name: get_schedule
SELECT schedules.*, users.time_zone FROM schedules JOIN users ON users.id = schedules.user_id
WHERE schedules.user_id = $1 AND schedules.id = $2;

-- name: change_schedule
UPDATE schedules SET request = $2, agent = $3, said = $4, starts = $5, rule = $6, paused = $7, next_at = $8
WHERE id = $1;

-- name: remove_schedule
WITH told AS (DELETE FROM notices WHERE user_id = $1 AND source = $2)
DELETE FROM schedules USING users WHERE schedules.user_id = $1 AND schedules.id = $2 AND users.id = $1
RETURNING schedules.*, users.time_zone;

-- name: lock_schedule
SELECT schedules.*, users.time_zone, clock_timestamp() AS clock FROM schedules JOIN users ON users.id = schedules.user_id
WHERE schedules.id = $1 FOR UPDATE OF schedules;

-- name: find_run
SELECT begun_at, ended_at, conversation FROM schedule_runs WHERE schedule_id = $1 AND due = $2;

-- name: begin_run
INSERT INTO schedule_runs (schedule_id, due, user_id, begun_at) VALUES ($1, $2, $3, $4);

-- name: note_conversation
UPDATE schedule_runs SET conversation = $3 WHERE schedule_id = $1 AND due = $2;

-- name: end_run
UPDATE schedule_runs SET ended_at = $3, status = $4
WHERE schedule_id = $1 AND due = $2 AND ended_at IS NULL;

-- name: move_on
UPDATE schedules SET last_at = $2, next_at = $3 WHERE id = $1;

-- name: next_runs
SELECT id, next_at FROM schedules WHERE next_at <= $1 ORDER BY next_at LIMIT $2;
