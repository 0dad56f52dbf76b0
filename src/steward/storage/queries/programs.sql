-- name: program_reports
INSERT INTO programs (id, host, pid, born) VALUES ($1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE SET seen_at = now();

-- name: programs_here
SELECT id, pid, born FROM programs WHERE host = $1 AND id <> $2;

-- name: programs_ended
DELETE FROM programs WHERE id = ANY ($1::bigint[]);

-- name: programs_forgotten
DELETE FROM programs WHERE seen_at < now() - interval '1 day' AND NOT program_heard(id);
