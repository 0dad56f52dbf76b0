-- name: owned_tables
-- Whatever a table holds under a user's id is that user's: the rule of erase_user, for the way out and back in.
-- Numbers that the database gives out are not part of a row: another database gives out its own.
SELECT c.relname::text AS name,
    ARRAY(SELECT a.attname::text FROM pg_attribute a
          WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = '' AND a.attgenerated = ''
              AND a.attname <> 'user_id' ORDER BY a.attnum) AS columns,
    ARRAY(SELECT a.attname::text FROM pg_index i JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
          WHERE i.indrelid = c.oid AND i.indisprimary ORDER BY a.attnum) AS key
FROM pg_class c
JOIN pg_attribute owner ON owner.attrelid = c.oid AND owner.attname = 'user_id' AND NOT owner.attisdropped
WHERE c.relkind = 'r' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'users'::regclass)
ORDER BY c.relname;

-- name: owned_links
SELECT child.relname::text AS child, mine.attname::text AS column, parent.relname::text AS parent
FROM pg_constraint link
JOIN pg_class child ON child.oid = link.conrelid
JOIN pg_class parent ON parent.oid = link.confrelid
JOIN pg_attribute mine ON mine.attrelid = link.conrelid AND mine.attnum = link.conkey[1]
WHERE link.contype = 'f' AND parent.relname <> 'users' AND cardinality(link.conkey) = 1
    AND child.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'users'::regclass);

-- name: one_view
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- name: take_turn
SELECT pg_advisory_xact_lock(hashtextextended('import ' || $1, 0));

-- name: make_room
CREATE TEMPORARY TABLE incoming (position integer, line json) ON COMMIT DROP;

-- name: make_newcomers
CREATE TEMPORARY TABLE newcomers (part text, id text) ON COMMIT DROP;

-- name: library_collections
SELECT json_build_object('name', name, 'kind', kind, 'created_at', created_at)::text FROM kb_collections ORDER BY name;

-- name: library_documents
SELECT d.id, json_build_object('collection', c.name, 'source', d.source, 'title', d.title, 'media_type', d.media_type,
    'sha256', d.sha256, 'size', d.size, 'root', d.root, 'metadata', d.metadata, 'ingested_at', d.ingested_at,
    'chunks', (SELECT coalesce(json_agg(json_build_object('sequence', k.sequence, 'kind', k.kind,
        'header_path', k.header_path, 'page', k.page, 'start', k.span_start, 'end', k.span_end, 'text', k.content)
        ORDER BY k.sequence), '[]') FROM kb_chunks k WHERE k.document_id = d.id))::text AS line
FROM kb_documents d JOIN kb_collections c ON c.id = d.collection_id
WHERE d.id > $1 ORDER BY d.id LIMIT 20;
