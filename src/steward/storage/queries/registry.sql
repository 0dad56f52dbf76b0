-- name: registry_id
SELECT id::text FROM registry;

-- name: registry_alone
SELECT pg_advisory_xact_lock(hashtextextended('steward registry', 0));

-- name: registry_newest
SELECT coalesce((SELECT max(version) FROM registry_files), 0) AS files,
    (SELECT max(pinned_at) FROM tool_pins WHERE tool <> '') AS pins;

-- name: registry_heads
SELECT DISTINCT ON (path) path, version, sha256, executable, made_at, made_by
FROM registry_files
ORDER BY path, version DESC;

-- name: registry_contents
SELECT path, content FROM registry_files
WHERE (path, version) IN (SELECT * FROM unnest($1::text[], $2::bigint[]));

-- name: registry_former
SELECT DISTINCT path, sha256 FROM registry_files
WHERE (path, sha256) IN (SELECT * FROM unnest($1::text[], $2::text[]));

-- name: registry_push
INSERT INTO registry_files (path, version, sha256, content, executable, made_by)
SELECT path, (SELECT coalesce(max(version), 0) + 1 FROM registry_files), sha256, content, executable, $5
FROM unnest($1::text[], $2::text[], $3::bytea[], $4::boolean[]) AS edit (path, sha256, content, executable)
RETURNING path, version;

-- name: registry_forget
-- Old versions, beyond those by which a home that was away knows that it edited nothing.
DELETE FROM registry_files old
WHERE path = ANY ($1::text[]) AND version <= (
    SELECT version FROM registry_files newer WHERE newer.path = old.path ORDER BY version DESC OFFSET 50 LIMIT 1
);

-- name: count_requests
INSERT INTO request_counts (caller, program, total)
SELECT caller, $2, total FROM unnest($1::text[], $3::bigint[]) AS counted (caller, total)
ON CONFLICT (caller, program) DO UPDATE SET total = excluded.total, counted_at = now();

-- name: requests_elsewhere
SELECT caller, program, total FROM request_counts
WHERE program <> $1 AND counted_at > now() - interval '1 minute' AND caller = ANY ($2::text[]);

-- name: forget_requests
DELETE FROM request_counts WHERE counted_at < now() - interval '1 hour';
