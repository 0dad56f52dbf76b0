-- name: create_collection
INSERT INTO kb_collections (name, kind) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING id;

-- name: collections
SELECT c.id, c.name, c.kind, c.created_at,
    coalesce(d.documents, 0) AS documents, coalesce(d.chunks, 0) AS chunks, coalesce(d.size, 0) AS size,
    ARRAY(SELECT p.name FROM kb_project_collections l JOIN kb_projects p ON p.id = l.project_id
          WHERE l.collection_id = c.id ORDER BY p.name) AS projects
FROM kb_collections c
LEFT JOIN LATERAL (
    SELECT count(*) AS documents, sum(chunks) AS chunks, sum(size) AS size
    FROM kb_documents WHERE collection_id = c.id
) d ON true
WHERE $1::text IS NULL OR c.name = $1
ORDER BY c.name;

-- name: delete_collection
DELETE FROM kb_collections WHERE id = $1;

-- name: create_project
INSERT INTO kb_projects (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING id;

-- name: project_id
SELECT id FROM kb_projects WHERE name = $1;

-- name: projects
SELECT p.name,
    array_remove(array_agg(c.name ORDER BY c.name), NULL) AS collections,
    array_remove(array_agg(c.name ORDER BY c.name) FILTER (WHERE l.is_default), NULL) AS defaults
FROM kb_projects p
LEFT JOIN kb_project_collections l ON l.project_id = p.id
LEFT JOIN kb_collections c ON c.id = l.collection_id
WHERE $1::text IS NULL OR p.name = $1
GROUP BY p.id ORDER BY p.name;

-- name: link
INSERT INTO kb_project_collections (project_id, collection_id)
SELECT p.id, c.id FROM kb_projects p, kb_collections c WHERE p.name = $1 AND c.name = ANY($2::text[])
ON CONFLICT DO NOTHING;

-- name: unlink
DELETE FROM kb_project_collections l USING kb_projects p, kb_collections c
WHERE l.project_id = p.id AND l.collection_id = c.id AND p.name = $1 AND c.name = ANY($2::text[]);

-- name: set_defaults
UPDATE kb_project_collections l SET is_default = (c.name = ANY($2::text[]))
FROM kb_projects p, kb_collections c
WHERE l.project_id = p.id AND l.collection_id = c.id AND p.name = $1;

-- name: known_documents
SELECT source, sha256 FROM kb_documents
WHERE collection_id = $1 AND md5(source) IN (SELECT md5(s) FROM unnest($2::text[]) s);

-- name: files_under
SELECT id, source, root FROM kb_documents
WHERE collection_id = $1 AND root IS NOT NULL AND starts_with(source, $2) AND id > $3 ORDER BY id LIMIT 500;

-- name: remove_documents
WITH gone AS (
    DELETE FROM kb_documents
    WHERE collection_id = $1 AND md5(source) IN (SELECT md5(s) FROM unnest($2::text[]) s) RETURNING 1
)
SELECT count(*) FROM gone;

-- name: moved_documents
-- As `remove_moved` finds them.
SELECT id, title FROM kb_documents moved
WHERE collection_id = $1 AND md5(source) IN (SELECT md5(s) FROM unnest($2::text[]) s) AND EXISTS (
    SELECT FROM kb_documents kept
    WHERE kept.collection_id = $1 AND kept.sha256 = moved.sha256
        AND md5(kept.source) NOT IN (SELECT md5(s) FROM unnest($2::text[]) s)
);

-- name: remove_moved
-- Nothing is lost: another document of the collection that is not among them says the same.
WITH named AS (SELECT md5(s) AS name FROM unnest($2::text[]) s),
    gone AS (
        DELETE FROM kb_documents moved
        WHERE collection_id = $1 AND md5(source) IN (SELECT name FROM named) AND EXISTS (
            SELECT FROM kb_documents kept
            WHERE kept.collection_id = $1 AND kept.sha256 = moved.sha256
                AND md5(kept.source) NOT IN (SELECT name FROM named)
        )
        RETURNING 1
    )
SELECT count(*) FROM gone;

-- name: put_document
-- Two ingests of one source take turns here, and what is stored already is left alone (no row comes back). Nobody
-- waits for the disk: a crash of the server may lose the last commits, never part of one, the next ingest brings them
-- back, and `settled` commits for all of them.
WITH hasty AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
    home AS MATERIALIZED (SELECT id FROM kb_collections, hasty WHERE id = $1 FOR KEY SHARE OF kb_collections)
INSERT INTO kb_documents AS d
    (collection_id, source, title, media_type, sha256, size, root, spaces, chunks, metadata)
SELECT id, $2, $3, $4, $5, $6, $7, $8, $9, $10 FROM home
ON CONFLICT (collection_id, md5(source)) DO UPDATE SET
    source = excluded.source, title = excluded.title, media_type = excluded.media_type, sha256 = excluded.sha256,
    size = excluded.size, root = excluded.root, spaces = excluded.spaces, chunks = excluded.chunks,
    metadata = excluded.metadata, ingested_at = now()
WHERE d.sha256 <> excluded.sha256
RETURNING id, xmax <> 0 AS replaced,
    ARRAY(SELECT nextval(pg_get_serial_sequence('kb_chunks', 'id')) FROM generate_series(1, $9)) AS chunk_ids;

-- name: document_at
SELECT id FROM kb_documents WHERE collection_id = $1 AND md5(source) = md5($2);

-- name: forget_chunks
SELECT kb_forget_chunks(ARRAY[$1::bigint]);

-- name: collection_exists
SELECT true FROM kb_collections WHERE id = $1;

-- name: space
SELECT id FROM kb_spaces WHERE embedder = $1 AND dimensions = $2;

-- name: create_space
INSERT INTO kb_spaces (embedder, dimensions) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: spaces
-- Those with something in them, with what they take on the disk.
SELECT s.embedder, s.dimensions, v.vectors, v.size + coalesce(pg_relation_size(
    to_regclass('kb_vectors_nearest_' || s.id)), 0) AS size,
    (SELECT count(*) FROM kb_documents WHERE s.id = ANY(spaces)) AS documents
FROM kb_spaces s
JOIN (SELECT space, count(*) AS vectors, sum(pg_column_size(each))::bigint AS size FROM kb_vectors each GROUP BY space) v
    ON v.space = s.id
ORDER BY s.embedder, s.dimensions;

-- name: spaces_of
SELECT id, dimensions FROM kb_spaces WHERE embedder = $1;

-- name: lock_documents
-- Nobody adds to a space while it is emptied.
LOCK TABLE kb_documents IN SHARE ROW EXCLUSIVE MODE;

-- name: leave_space
UPDATE kb_documents SET spaces = array_remove(spaces, $1::integer) WHERE $1 = ANY(spaces);

-- name: empty_space
WITH removed AS (DELETE FROM kb_vectors WHERE space = $1 RETURNING 1) SELECT count(*) FROM removed;

-- name: outdated
SELECT coalesce(sum(chunks), 0) FROM kb_documents
WHERE NOT spaces && ARRAY(SELECT id FROM kb_spaces WHERE embedder = $1);

-- name: next_outdated
SELECT d.id, d.collection_id, d.title, array_agg(k.id ORDER BY k.sequence) AS chunk_ids,
    array_agg(k.header_path ORDER BY k.sequence) AS headers, array_agg(k.content ORDER BY k.sequence) AS texts
FROM (
    SELECT * FROM kb_documents
    WHERE NOT spaces && ARRAY(SELECT id FROM kb_spaces WHERE embedder = $1) AND id > $2 ORDER BY id LIMIT 1
) d
JOIN kb_chunks k ON k.document_id = d.id GROUP BY d.id, d.collection_id, d.title;

-- name: renew_document
-- Only as it was read: a document that was replaced meanwhile has other chunks.
UPDATE kb_documents SET spaces = spaces || $2::integer WHERE id = $1 AND NOT $2 = ANY(spaces)
    AND $3::bigint[] = ARRAY(SELECT id FROM kb_chunks WHERE document_id = $1 ORDER BY sequence)
RETURNING id;

-- name: statistics
-- A term that was not counted, because it is new or rare, is looked up.
SELECT coalesce(sum(c.counted_chunks), 0)::bigint AS passages,
    coalesce(sum(c.counted_chunks * c.average_length) / nullif(sum(c.counted_chunks), 0), 1)::real AS average_length,
    ARRAY(
        SELECT coalesce(
            (SELECT sum(f.chunks) FROM kb_frequencies f WHERE f.collection_id = ANY($1::integer[]) AND f.term = u.term),
            (SELECT count(*) FROM kb_terms t
             WHERE t.terms @@ u.query::tsquery AND t.collection_id = ANY($1::integer[]))
        )::bigint
        FROM unnest($2::text[], $3::text[]) WITH ORDINALITY AS u(term, query, n) ORDER BY n
    ) AS frequencies
FROM kb_collections c WHERE c.id = ANY($1::integer[]);

-- name: settled
-- Waits for the disk, and with it for every document committed before.
UPDATE kb_collections SET settled_at = now() WHERE id = $1;

-- name: merge_new_terms
SELECT gin_clean_pending_list('kb_terms_terms');

-- name: uncounted
SELECT (SELECT count(*) FROM kb_terms WHERE collection_id = $1) AS now,
    (SELECT counted_chunks FROM kb_collections WHERE id = $1) AS counted;

-- name: forget_frequencies
DELETE FROM kb_frequencies WHERE collection_id = $1;

-- name: count_frequencies
-- Of a large collection one passage in $2 is counted; terms too rare for that are left to `statistics`.
INSERT INTO kb_frequencies (collection_id, term, chunks)
SELECT $1::integer, word, ndoc * $2::integer
FROM ts_stat(format('SELECT terms FROM kb_terms WHERE collection_id = %s AND chunk_id %% %s = 0', $1::integer, $2::integer))
WHERE ndoc >= CASE WHEN $2 = 1 THEN 2 ELSE 5 END;

-- name: count_lengths
UPDATE kb_collections SET (counted_chunks, average_length) =
    (SELECT count(*), coalesce(avg(length), 0) FROM kb_terms WHERE collection_id = $1)
WHERE id = $1;

-- name: counted
SELECT coalesce(sum(counted_chunks), 0)::bigint FROM kb_collections WHERE id = ANY($1::integer[]);

-- name: large_spaces
SELECT s.id, s.dimensions, v.vectors
FROM kb_spaces s JOIN (SELECT space, count(*) AS vectors FROM kb_vectors GROUP BY space) v ON v.space = s.id
WHERE v.vectors > $1 AND NOT EXISTS (
    SELECT FROM pg_index WHERE indexrelid = to_regclass('kb_vectors_nearest_' || s.id) AND indisvalid
);

-- name: create_vector_index
CREATE INDEX kb_vectors_nearest_:space ON kb_vectors
USING hnsw ((embedding::halfvec(:dimensions)) halfvec_cosine_ops)
WITH (m = 8, ef_construction = 48) WHERE space = :space;

-- name: index_memory
SELECT set_config('maintenance_work_mem', $1, true);

-- name: drop_vector_index
DROP INDEX IF EXISTS kb_vectors_nearest_:space;

-- name: lexical
-- Candidates by the rare terms, scored by all of them; the constant undoes ts_rank's own scaling. BM25 is written so
-- that a term is looked up once: n / (n + norm) = 1 - norm / (n + norm). Most terms are not in most of the candidates,
-- and asking that first costs a third of ranking them.
WITH asked AS MATERIALIZED (
    SELECT q::tsquery AS q, w FROM unnest($2::text[], $3::real[]) AS t(q, w)
), found AS MATERIALIZED (
    SELECT chunk_id, length, terms FROM kb_terms
    WHERE terms @@ $4::text::tsquery AND collection_id = ANY($1::integer[]) LIMIT $5
)
SELECT f.chunk_id FROM found f, LATERAL (
    SELECT 1.5::real * (0.25::real + 0.75::real * f.length / $6::real) AS norm
) l, LATERAL (
    SELECT sum(CASE WHEN f.terms @@ a.q THEN
        a.w * (1 - l.norm / (ts_rank('{0.1,0.2,0.34,0.6}', f.terms, a.q) * 16.44934066848 + l.norm)) END) AS score
    FROM asked a
) s
ORDER BY s.score DESC, f.chunk_id LIMIT $7;

-- name: nearest
-- The settings hold for this statement; the search depends on them, so that they are made before it.
SELECT v.chunk_id
FROM (SELECT set_config('hnsw.ef_search', $4, true) AS ef,
          set_config('hnsw.iterative_scan', 'relaxed_order', true) AS scan) s,
    LATERAL (
        SELECT chunk_id FROM kb_vectors
        WHERE space = :space AND collection_id = ANY($1::integer[]) AND s.ef <> '' AND s.scan <> ''
        ORDER BY embedding::halfvec(:dimensions) <=> $2 LIMIT $3
    ) v;

-- name: nearest_exact
-- By the bare column, which no index is on.
SELECT chunk_id FROM kb_vectors
WHERE collection_id = ANY($1::integer[]) AND space = $4 ORDER BY embedding <=> $2 LIMIT $3;

-- name: passages
SELECT k.id AS chunk_id, k.document_id, c.name AS collection, k.content, k.kind, k.sequence, k.header_path, k.page,
    k.span_start, k.span_end, d.source, d.title, d.metadata, t.length, v.embedding,
    ARRAY(SELECT ts_rank('{0.1,0.2,0.34,0.6}', t.terms, a::tsquery) * 16.44934066848
          FROM unnest($2::text[]) WITH ORDINALITY AS u(a, n) ORDER BY n) AS counts
FROM unnest($1::bigint[]) AS wanted(id)
JOIN kb_chunks k ON k.id = wanted.id
JOIN kb_documents d ON d.id = k.document_id
JOIN kb_collections c ON c.id = d.collection_id
JOIN kb_terms t ON t.chunk_id = k.id
LEFT JOIN kb_vectors v ON v.chunk_id = k.id AND v.space = $5
WHERE (cardinality($3::text[]) = 0 OR k.kind = ANY($3)) AND d.metadata @> $4::jsonb;

-- name: related_terms
-- Words that keep company with the query's, neither everywhere nor almost nowhere.
WITH near AS MATERIALIZED (
    SELECT terms FROM kb_terms WHERE collection_id = ANY($1::integer[]) AND terms @@ $2::text::tsquery LIMIT 100
), seen AS (
    SELECT lexeme, count(*) AS n FROM near, unnest(terms) AS u(lexeme) GROUP BY lexeme HAVING count(*) > 1
)
SELECT s.lexeme FROM seen s JOIN kb_frequencies f ON f.term = s.lexeme AND f.collection_id = ANY($1::integer[])
WHERE s.lexeme <> ALL($3::text[]) AND length(s.lexeme) > 3 AND s.lexeme !~ '[0-9]'
GROUP BY s.lexeme, s.n ORDER BY s.n::real / sqrt(sum(f.chunks)) DESC, s.lexeme LIMIT $4;

-- name: header_paths
-- Of the newest documents: there is no need to read the whole library for a hint.
SELECT k.header_path
FROM (SELECT id FROM kb_documents WHERE collection_id = ANY($1::integer[]) ORDER BY id DESC LIMIT 100) d
JOIN kb_chunks k ON k.document_id = d.id
WHERE k.header_path <> '' AND k.sequence < 50
GROUP BY k.header_path ORDER BY count(*) DESC, k.header_path LIMIT $2;

-- name: passages_of
SELECT id, sequence, kind, header_path, page, content FROM kb_chunks
WHERE document_id = $1 AND sequence >= $2 ORDER BY sequence LIMIT $3;

-- name: documents_from
SELECT d.*, c.name AS collection FROM kb_documents d JOIN kb_collections c ON c.id = d.collection_id
WHERE d.source = $1::text OR right(d.source, length($1::text) + 1) = '/' || $1::text
ORDER BY d.source = $1::text DESC, d.id DESC;

-- name: document
SELECT d.*, c.name AS collection FROM kb_documents d JOIN kb_collections c ON c.id = d.collection_id WHERE d.id = $1;

-- name: document_to_remove
SELECT d.*, c.name AS collection FROM kb_documents d JOIN kb_collections c ON c.id = d.collection_id
WHERE d.id = $1 FOR UPDATE OF d;

-- name: documents
SELECT d.*, c.name AS collection FROM kb_documents d JOIN kb_collections c ON c.id = d.collection_id
WHERE c.name = $1 AND ($3::bigint IS NULL OR (d.source, d.id) > (SELECT source, id FROM kb_documents WHERE id = $3))
ORDER BY d.source, d.id LIMIT $2;

-- name: record_query
-- The answer does not wait for the disk: of what a crash can take, this is the least.
WITH hasty AS (SELECT set_config('synchronous_commit', 'off', true)),
    trimmed AS (DELETE FROM kb_queries WHERE id <= (SELECT max(id) FROM kb_queries) - 10000)
INSERT INTO kb_queries (query, collections, results, best, refinement, user_id)
SELECT $1, $2, $3, $4, $5, $6 FROM hasty;

-- name: history
SELECT id, query, collections, results, best, refinement, asked_at FROM kb_queries
WHERE ($2::bigint IS NULL OR id < $2) AND user_id IS NOT DISTINCT FROM $3 ORDER BY id DESC LIMIT $1;
