-- name: add_memory
INSERT INTO memories (id, user_id, agent, project, conversation, content, context, source, metadata, happened_at,
    created_at, fingerprint, embedder, length, terms, embedding)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16);

-- name: lock_scope
SELECT pg_advisory_xact_lock(hashtextextended($1, 20210));

-- name: supersede
UPDATE memories SET superseded_by = $2, superseded_at = $3
WHERE id = ANY($1::text[]) AND superseded_at IS NULL;

-- name: same_memory
SELECT id FROM memories
WHERE user_id = $1 AND agent IS NOT DISTINCT FROM $2 AND project IS NOT DISTINCT FROM $3 AND fingerprint = $4
    AND superseded_at IS NULL;

-- name: last_in_conversation
SELECT content FROM memories WHERE user_id = $1 AND conversation = $2 ORDER BY created_at DESC, id DESC LIMIT 1;

-- name: similar
SELECT id, content, happened_at, 1 - (embedding <=> $4) AS likeness FROM memories
WHERE user_id = $1 AND agent IS NOT DISTINCT FROM $2 AND project IS NOT DISTINCT FROM $3 AND superseded_at IS NULL
ORDER BY embedding <=> $4 LIMIT 5;

-- name: totals
SELECT count(*) AS memories, coalesce(avg(length), 1)::real AS average,
    ARRAY(
        SELECT (SELECT count(*) FROM memories m WHERE m.user_id = $1 AND m.superseded_at IS NULL
                    AND m.terms @@ q::tsquery)
        FROM unnest($2::text[]) WITH ORDINALITY AS u(q, n) ORDER BY n
    ) AS frequencies
FROM memories WHERE user_id = $1 AND superseded_at IS NULL;

-- name: lexical
WITH asked AS MATERIALIZED (
    SELECT q::tsquery AS q, w FROM unnest($4::text[], $5::real[]) AS t(q, w)
)
SELECT m.id FROM memories m, LATERAL (
    SELECT 1.5 * (0.25 + 0.75 * m.length / $7::real) AS norm
) l, LATERAL (
    SELECT sum(a.w * (1 - l.norm / (ts_rank('{0.1,0.2,0.34,0.6}', m.terms, a.q) * 16.44934066848 + l.norm))) AS score
    FROM asked a
) s
WHERE m.user_id = $1 AND (m.agent IS NULL OR m.agent = $2) AND (m.project IS NULL OR m.project = $3)
    AND m.superseded_at IS NULL AND m.terms @@ $6::text::tsquery
ORDER BY s.score DESC, m.id LIMIT $8;

-- name: nearest
SELECT id FROM memories
WHERE user_id = $1 AND (agent IS NULL OR agent = $2) AND (project IS NULL OR project = $3) AND superseded_at IS NULL
ORDER BY embedding <=> $4 LIMIT $5;

-- name: memories_by_id
SELECT m.id, m.user_id, m.agent, m.project, m.conversation, m.content, m.context, m.source, m.metadata,
    m.happened_at, m.created_at, m.superseded_by, m.length, m.embedding,
    ARRAY(SELECT ts_rank('{0.1,0.2,0.34,0.6}', m.terms, a::tsquery) * 16.44934066848
          FROM unnest($2::text[]) WITH ORDINALITY AS u(a, n) ORDER BY n) AS counts
FROM unnest($1::text[]) AS wanted(id) JOIN memories m ON m.id = wanted.id;

-- name: list_memories
SELECT id, user_id, agent, project, conversation, content, context, source, metadata, happened_at, created_at,
    superseded_by
FROM memories
WHERE user_id = $1 AND ($2::text IS NULL OR agent = $2) AND ($3::text IS NULL OR project = $3)
    AND ($4 OR superseded_at IS NULL) AND ($5::timestamptz IS NULL OR (created_at, id) < ($5, $6))
ORDER BY created_at DESC, id DESC LIMIT $7;

-- name: history
WITH RECURSIVE past AS (
    SELECT m.*, 0 AS depth FROM memories m WHERE m.user_id = $1 AND m.id = $2
    UNION ALL
    SELECT m.*, p.depth + 1 FROM memories m JOIN past p ON m.superseded_by = p.id WHERE p.depth < 100
)
SELECT id, user_id, agent, project, conversation, content, context, source, metadata, happened_at, created_at,
    superseded_by
FROM past ORDER BY created_at DESC, id DESC;

-- name: forget_memory
-- What it took the place of goes along: the history of a forgotten fact is that fact.
WITH RECURSIVE past AS (
    SELECT id FROM memories WHERE user_id = $1 AND id = $2
    UNION
    SELECT m.id FROM memories m JOIN past p ON m.superseded_by = p.id
)
DELETE FROM memories WHERE id IN (SELECT id FROM past) RETURNING id;

-- name: count_memories
SELECT count(*) FROM memories
WHERE user_id = $1 AND ($2::text IS NULL OR agent = $2) AND ($3::text IS NULL OR project = $3);

-- name: forget_scope
DELETE FROM memories
WHERE user_id = $1 AND ($2::text IS NULL OR agent = $2) AND ($3::text IS NULL OR project = $3);
