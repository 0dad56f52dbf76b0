-- name: list_jobs
-- States are the engine's; `$1` NULL: everybody's and Steward's own.
SELECT j.id, j.task_name, j.queue_name, j.args, j.status::text, j.attempts, j.abort_requested, j.scheduled_at,
    n.done, n.total, n.note, n.failures, n.error, n.error_code, n.result,
    e.created_at, greatest(e.updated_at, n.updated_at) AS updated_at
FROM steward_work.procrastinate_jobs j
LEFT JOIN steward_work.job_notes n ON n.job_id = j.id
LEFT JOIN LATERAL (
    SELECT min(at) AS created_at, max(at) FILTER (WHERE type <> 'scheduled') AS updated_at
    FROM steward_work.procrastinate_events WHERE job_id = j.id
) e ON true
WHERE ($1::text IS NULL OR j.args ->> 'user' = $1)
    AND (cardinality($2::text[]) = 0 OR j.status::text = ANY ($2::text[]))
    AND ($3::text IS NULL OR j.task_name = $3)
    AND ($4::bigint IS NULL OR j.id < $4)
    AND ($6::bigint IS NULL OR j.id = $6)
ORDER BY j.id DESC
LIMIT $5;

-- name: count_jobs
-- Those that matter to whoever watches: waiting, running, given up. `late`: since when one that is due waits.
SELECT status::text, count(*) AS jobs,
    extract(epoch FROM now() - min(coalesce(scheduled_at, at)) FILTER (WHERE status = 'todo'))::float8 AS late
FROM (
    SELECT j.status, j.scheduled_at,
        (SELECT min(e.at) FROM steward_work.procrastinate_events e WHERE e.job_id = j.id) AS at
    FROM steward_work.procrastinate_jobs j
    WHERE j.status IN ('todo', 'doing', 'aborting', 'failed')
) counted
GROUP BY status;

-- name: cancel_job
SELECT steward_work.procrastinate_cancel_job_v1($1, true, false);

-- name: retry_job
-- With a clean slate: what counted against it counts no more.
WITH again AS (
    UPDATE steward_work.procrastinate_jobs
    SET status = 'todo', abort_requested = false, attempts = 0, scheduled_at = now(), worker_id = NULL
    WHERE id = $1 AND status IN ('failed', 'cancelled', 'aborted')
    RETURNING id
), cleaned AS (
    UPDATE steward_work.job_notes SET failures = 0, error = NULL, error_code = NULL, updated_at = now()
    FROM again WHERE job_notes.job_id = again.id
)
SELECT id FROM again;

-- name: note_job
INSERT INTO steward_work.job_notes (job_id, done, total, note) VALUES ($1, $2, $3, $4)
ON CONFLICT (job_id) DO UPDATE
SET done = excluded.done, total = excluded.total, note = excluded.note, updated_at = now();

-- name: note_job_result
INSERT INTO steward_work.job_notes (job_id, result)
SELECT id, $4 FROM steward_work.procrastinate_jobs
WHERE id = $1 AND worker_id IS NOT DISTINCT FROM $2::bigint AND attempts = $3 AND status = 'doing'
ON CONFLICT (job_id) DO UPDATE
SET result = excluded.result, error = NULL, error_code = NULL, updated_at = now()
RETURNING true;

-- name: note_job_failure
INSERT INTO steward_work.job_notes (job_id, error, error_code, failures)
SELECT id, $4, $5, $6 FROM steward_work.procrastinate_jobs
WHERE id = $1 AND worker_id IS NOT DISTINCT FROM $2::bigint AND attempts = $3 AND status = 'doing'
ON CONFLICT (job_id) DO UPDATE
SET failures = excluded.failures, error = excluded.error, error_code = excluded.error_code, updated_at = now()
RETURNING true;

-- name: holds_job
SELECT true FROM steward_work.procrastinate_jobs
WHERE id = $1 AND worker_id IS NOT DISTINCT FROM $2::bigint AND attempts = $3 AND status = 'doing';
