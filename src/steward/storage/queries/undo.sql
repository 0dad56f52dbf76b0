-- name: note
INSERT INTO undo_steps (change, user_id, tool, role, words, kind, thing, data)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: images
SELECT image FROM undo_images($1::text::regclass, $2) image;

-- name: put_row
SELECT undo_row($1::text::regclass, $2, $3, $4);

-- name: one_at_a_time
SELECT pg_advisory_xact_lock(hashtextextended($1, 900));

-- name: changes
-- One row a change, the newest first; those that stand, or all of them.
SELECT change, max(id) AS number, min(at) AS at, min(tool) AS tool, min(role) AS role, max(undone_by) AS undone_by,
    array_agg(words ORDER BY id DESC) AS words, array_agg(thing) AS things
FROM undo_steps
WHERE user_id = $1 AND (NOT $2 OR undone_by IS NULL)
GROUP BY change
HAVING ($3::text IS NULL OR bool_or(thing = $3 OR starts_with(thing, $3 || ':')))
    AND ($4::bigint IS NULL OR max(id) < $4)
ORDER BY max(id) DESC LIMIT $5;

-- name: change
SELECT change, max(id) AS number, min(at) AS at, min(tool) AS tool, min(role) AS role, max(undone_by) AS undone_by,
    array_agg(words ORDER BY id DESC) AS words, array_agg(thing) AS things
FROM undo_steps WHERE user_id = $1 AND change = $2 GROUP BY change;

-- name: changes_undone_by
SELECT change, max(id) AS number FROM undo_steps WHERE user_id = $1 AND undone_by = $2
GROUP BY change ORDER BY max(id);

-- name: steps
-- The last first.
SELECT id, kind, thing, data FROM undo_steps WHERE user_id = $1 AND change = $2 ORDER BY id DESC;

-- name: turn_step
UPDATE undo_steps SET data = $2, undone_by = $3 WHERE id = $1;

-- name: steps_of_calls
SELECT DISTINCT change FROM undo_steps WHERE change = ANY ($1::text[]);

-- name: forget_thing
DELETE FROM undo_steps WHERE thing = ANY ($1::text[]);

-- name: forget_things_of_user
DELETE FROM undo_steps WHERE user_id = $1 AND starts_with(thing, $2 || ':');

-- name: forget_documents
DELETE FROM undo_steps WHERE kind = 'document' AND data -> 'collection' = to_jsonb($1::integer);

-- name: sweep
-- A change is taken back while it is young; a deleted task is restored as long as the bin keeps it.
DELETE FROM undo_steps
WHERE (at < now() - $1::interval AND NOT (tool = 'delete_task' AND undone_by IS NULL)) OR thing IN (
    SELECT thing FROM undo_steps WHERE tool = 'delete_task' AND undone_by IS NULL AND at < now() - $2::interval
);

-- name: clear_shelves
-- What no change can bring back any more.
SELECT kb_forget_chunks(ARRAY(
    SELECT DISTINCT k.document_id FROM kb_terms t JOIN kb_chunks k ON k.id = t.chunk_id
    WHERE t.collection_id < 0 AND NOT EXISTS (
        SELECT FROM undo_steps WHERE kind = 'document' AND data -> 'shelf' = to_jsonb(k.document_id)
    )
));

-- name: chunks_to_shelf
SELECT kb_shelve_chunks($1);

-- name: unshelve
SELECT kb_unshelve($1, $2);

-- name: delete_document
DELETE FROM kb_documents WHERE id = $1;

-- name: dependants
SELECT (SELECT count(*) FROM kb_documents WHERE collection_id = $1) AS documents,
    (SELECT count(*) FROM kb_project_collections WHERE collection_id = $1) AS links;

-- name: links_of_project
SELECT count(*) FROM kb_project_collections WHERE project_id = $1;
