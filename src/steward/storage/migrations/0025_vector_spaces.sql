-- Vectors of several models stand beside each other, each model's in a space of its own: another model adds to what is
-- there, and coming back to the first finds everything in place. Dimensions differ from space to space, so that the
-- column has none and each space's index names them.
CREATE TABLE kb_spaces (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    embedder text NOT NULL,
    dimensions integer NOT NULL,
    UNIQUE (embedder, dimensions)
);
INSERT INTO kb_spaces (embedder, dimensions) SELECT embedder, dimensions FROM kb_space;
DROP TABLE kb_space;

DROP INDEX IF EXISTS kb_vectors_nearest;
ALTER TABLE kb_vectors ADD COLUMN space integer NOT NULL DEFAULT 1;
ALTER TABLE kb_vectors ALTER COLUMN space DROP DEFAULT,
    ALTER COLUMN embedding TYPE halfvec,
    ALTER COLUMN embedding SET STORAGE PLAIN,
    DROP CONSTRAINT kb_vectors_pkey,
    ADD PRIMARY KEY (chunk_id, space);

-- In which spaces a document stands.
ALTER TABLE kb_documents ADD COLUMN spaces integer[] NOT NULL DEFAULT '{}';
UPDATE kb_documents d SET spaces = ARRAY[s.id] FROM kb_spaces s WHERE s.embedder = d.embedder;
ALTER TABLE kb_documents DROP COLUMN embedder;

DO $$
DECLARE
    space kb_spaces%ROWTYPE;
BEGIN
    FOR space IN SELECT * FROM kb_spaces LOOP
        IF (SELECT count(*) FROM kb_vectors v WHERE v.space = space.id) > 20000 THEN
            EXECUTE format(
                'CREATE INDEX kb_vectors_nearest_%s ON kb_vectors USING hnsw ((embedding::halfvec(%s)) halfvec_cosine_ops)'
                ' WITH (m = 8, ef_construction = 48) WHERE space = %s', space.id, space.dimensions, space.id);
        END IF;
    END LOOP;
END
$$;
