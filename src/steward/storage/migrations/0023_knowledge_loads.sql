-- A document's rows come with it in one transaction and go with it in one statement. Foreign keys would check and
-- cascade row by row, which took as long as storing the rows.
ALTER TABLE kb_chunks DROP CONSTRAINT kb_chunks_document_id_fkey;
ALTER TABLE kb_vectors DROP CONSTRAINT kb_vectors_chunk_id_fkey;
ALTER TABLE kb_terms DROP CONSTRAINT kb_terms_chunk_id_fkey;

CREATE FUNCTION kb_forget_chunks(documents bigint[]) RETURNS void LANGUAGE sql AS $$
    WITH gone AS (DELETE FROM kb_chunks WHERE document_id = ANY(documents) RETURNING id),
        terms AS (DELETE FROM kb_terms WHERE chunk_id IN (SELECT id FROM gone))
    DELETE FROM kb_vectors WHERE chunk_id IN (SELECT id FROM gone);
$$;

CREATE FUNCTION kb_documents_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM kb_forget_chunks(ARRAY(SELECT id FROM gone));
    RETURN NULL;
END
$$;

CREATE TRIGGER kb_documents_gone AFTER DELETE ON kb_documents
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION kb_documents_gone();

-- Ranking looks into a passage's terms once for each word of a query: they must not be unpacked each time.
ALTER TABLE kb_terms SET (toast_tuple_target = 8160);

-- New terms wait in a list that is merged in one go when a load is over.
ALTER INDEX kb_terms_terms SET (gin_pending_list_limit = 16384);

ALTER TABLE kb_collections ADD COLUMN settled_at timestamptz;
