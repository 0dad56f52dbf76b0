-- name: add_home
INSERT INTO record_homes (home, public_key, link) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING;

-- name: lock_home
-- Programs of one home link their lines one after another.
SELECT length, link FROM record_homes WHERE home = $1 FOR UPDATE;

-- name: positions
SELECT file, position FROM record_files WHERE home = $1;

-- name: known_lines
SELECT md5(content) AS md5 FROM record_lines WHERE home = $1 AND day = $2 AND content IS NOT NULL;

-- name: set_position
INSERT INTO record_files (home, file, position) VALUES ($1, $2, $3)
ON CONFLICT (home, file) DO UPDATE SET position = $3;

-- name: set_head
UPDATE record_homes SET length = $2, link = $3 WHERE home = $1;

-- name: add_checkpoint
INSERT INTO record_checkpoints (home, number, kind, link, at, signature) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING;

-- name: note_ended
-- A line that says what became of a call ends the one that announced it, also where it was read first.
UPDATE record_lines said SET ended = true
WHERE said.call_id = ANY ($1::text[]) AND said.status IN ('running', 'interrupted') AND NOT said.ended
    AND EXISTS (
        SELECT FROM record_lines outcome
        WHERE outcome.call_id = said.call_id AND (
            outcome.status IN ('done', 'failed')
            OR (outcome.status = 'interrupted' AND said.status = 'running')
            OR (outcome.status = 'pending_approval' AND outcome.home = said.home AND outcome.number > said.number)
        )
    );

-- name: list_lines
SELECT line.id, line.home, line.at, line.tool, line.status, line.call_id, line.content, intent.content AS intent
FROM record_lines line
LEFT JOIN LATERAL (
    SELECT content FROM record_lines
    WHERE call_id = line.call_id AND status = 'running' AND line.status <> 'running'
    ORDER BY id DESC LIMIT 1
) intent ON true
WHERE NOT line.ended
    AND ($1::text IS NULL OR line.tool = $1)
    AND ($2::text IS NULL OR line.status = $2)
    AND ($3::timestamptz IS NULL OR line.at >= $3)
    AND (
        $4::text IS NULL OR line.correlation_id = $4
        OR line.correlation_id IN (SELECT correlation_id FROM record_lines WHERE call_id = $4)
    )
    AND ($5::timestamptz IS NULL OR (line.at, line.id) < ($5, $6::bigint))
    AND ($8::text IS NULL OR line.owner = $8)
    AND ($9::text IS NULL OR line.caller = $9)
    AND ($10 OR NOT line.incidental)
ORDER BY line.at DESC, line.id DESC
LIMIT $7;

-- name: callers
-- From one to the next by the index: there are few callers and many lines.
WITH RECURSIVE one AS (
    (SELECT caller FROM record_lines WHERE caller IS NOT NULL ORDER BY caller LIMIT 1)
    UNION ALL
    SELECT (SELECT caller FROM record_lines WHERE caller > one.caller ORDER BY caller LIMIT 1)
    FROM one WHERE one.caller IS NOT NULL
)
SELECT caller FROM one
WHERE caller IS NOT NULL
    AND ($1::text IS NULL OR EXISTS (
        SELECT FROM record_lines line WHERE line.caller = one.caller AND line.owner = $1
    ))
LIMIT 200;

-- name: take_sweep
SELECT pg_try_advisory_xact_lock(hashtextextended('steward record sweep', 0));

-- name: abandoned
-- Calls that were about to run in a program that is gone, and of which nobody will hear more.
SELECT content, call_id, at FROM record_lines
WHERE status = 'running' AND NOT ended AND content IS NOT NULL
    AND (program IS NULL OR NOT program_heard(program))
ORDER BY id LIMIT 1000;

-- name: approved_without_a_line
-- Approved calls whose program was gone before it wrote that it would run them, or whose line never arrived.
SELECT call_id, tool, user_id, correlation_id, risk, confidence, caller_kind, caller_id, approver, approved_at
FROM proposals
WHERE state IN ('running', 'unknown') AND (instance IS NULL OR NOT program_heard(instance))
    AND approved_at > now() - interval '7 days'
    AND NOT EXISTS (
        SELECT FROM record_lines line
        WHERE line.call_id = proposals.call_id AND line.status <> 'pending_approval'
    )
ORDER BY approved_at LIMIT 1000;

-- name: unstored_outcomes
-- What became of an approved run, by its yes or by the line that said it would run: a clock may have jumped.
SELECT DISTINCT ON (proposals.id) proposals.id, line.content, line.at
FROM proposals JOIN record_lines line USING (call_id)
WHERE proposals.state IN ('running', 'unknown') AND line.status IN ('done', 'failed')
    AND (proposals.instance IS NULL OR NOT program_heard(proposals.instance))
    AND line.content IS NOT NULL AND (
        strpos(line.content, '"approved":{') > 0  -- also one that failed before it could run
        OR EXISTS (
            SELECT FROM record_lines begun
            WHERE begun.call_id = line.call_id AND begun.home = line.home
                AND begun.status = 'running' AND begun.number < line.number
        )
    )
ORDER BY proposals.id, line.id DESC LIMIT 1000;

-- name: owned
SELECT home, number FROM record_lines WHERE owner = $1 AND content IS NOT NULL ORDER BY home, number;

-- name: erase
UPDATE record_lines SET content = NULL, salt = NULL, owner = NULL, correlation_id = NULL, caller = NULL,
    ended = ended OR status = 'running'
WHERE owner = $1;

-- name: unwiped
SELECT id, call_id, status FROM record_lines WHERE home = $1 AND content IS NULL AND NOT wiped LIMIT 10000;

-- name: note_wiped
UPDATE record_lines SET wiped = true WHERE id = ANY ($1::bigint[]);

-- name: homes
SELECT home, public_key, length, link FROM record_homes ORDER BY home;

-- name: chain
SELECT number, digest, link, salt, content, file, day, at, tool, status, call_id, ended
FROM record_lines WHERE home = $1 AND number > $2 ORDER BY number LIMIT $3;

-- name: checkpoints
SELECT number, kind, link, at, signature FROM record_checkpoints WHERE home = $1 ORDER BY number, kind;

-- name: erasures
SELECT content FROM record_lines WHERE status = 'erased' AND content IS NOT NULL;

-- name: calls_with_an_end
SELECT DISTINCT call_id FROM record_lines WHERE call_id = ANY ($1::text[]) AND status = ANY ($2::text[]);

-- name: lines_of_call
SELECT home, number FROM record_lines WHERE call_id = $1 ORDER BY id;

-- name: next_checkpoint
SELECT number, kind, link, at, signature FROM record_checkpoints
WHERE home = $1 AND number >= $2 AND kind = 'through' ORDER BY number LIMIT 1;

-- name: stretch
SELECT number, digest, link, salt, content FROM record_lines
WHERE home = $1 AND number BETWEEN $2 AND $3 ORDER BY number;

-- name: first_kept
-- The first line of the last days that have lines; what comes before it may go.
SELECT min(number) FROM record_lines WHERE home = $1 AND day IN (
    SELECT DISTINCT day FROM record_lines WHERE home = $1 ORDER BY day DESC LIMIT $2
);

-- name: link_at
SELECT link FROM record_lines WHERE home = $1 AND number = $2;

-- name: drop_lines
DELETE FROM record_lines WHERE home = $1 AND number <= $2;

-- name: drop_checkpoints
DELETE FROM record_checkpoints WHERE home = $1 AND number < $2;

-- name: drop_files
DELETE FROM record_files WHERE home = $1 AND NOT (file = ANY ($2::text[]));

-- name: call_of_proposal
SELECT call_id FROM proposals WHERE id = $1;
