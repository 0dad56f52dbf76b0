-- How each change is taken back. A row is one step; the steps of one call are taken back together.
CREATE TABLE undo_steps (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    change    text NOT NULL,              -- the call that made it
    user_id   text NOT NULL,
    at        timestamptz NOT NULL DEFAULT now(),
    tool      text NOT NULL,
    role      text NOT NULL,              -- what it takes to do, and so to take back
    words     text NOT NULL,              -- what was done, for a person
    kind      text NOT NULL,              -- who knows how to take it back
    thing     text NOT NULL,              -- what it was done to: a step goes with it when that goes for good
    data      jsonb NOT NULL,             -- what is needed for that; once taken back, what doing it again needs
    undone_by text                        -- the undo that took it back; null: it stands
);

CREATE INDEX undo_steps_of_user ON undo_steps (user_id, id DESC);
CREATE INDEX undo_steps_of_change ON undo_steps (change);
CREATE INDEX undo_steps_of_undo ON undo_steps (undone_by) WHERE undone_by IS NOT NULL;
CREATE INDEX undo_steps_of_thing ON undo_steps (thing);
CREATE INDEX undo_steps_by_age ON undo_steps (at);

-- Rows as they are, by some of their columns. In one time zone, so that two images can be compared.
CREATE FUNCTION undo_images(place regclass, key jsonb) RETURNS SETOF jsonb
LANGUAGE plpgsql SET timezone TO 'UTC'
AS $$
DECLARE
    same text;
BEGIN
    SELECT string_agg(format('t.%1$I = k.%1$I', name), ' AND ') INTO same FROM jsonb_object_keys(key) name;
    RETURN QUERY EXECUTE format(
        'SELECT to_jsonb(t) FROM %1$s t, jsonb_populate_record(NULL::%1$s, $1) k WHERE %2$s FOR UPDATE OF t',
        place, same
    ) USING key;
END
$$;

-- Make a row what it was: `stands` is what must still be true of it, null that it must not be there; `wanted`
-- is what it becomes, null that it goes. False, and nothing done, when it is not as it should be.
CREATE FUNCTION undo_row(place regclass, key jsonb, stands jsonb, wanted jsonb) RETURNS boolean
LANGUAGE plpgsql SET timezone TO 'UTC'
AS $$
DECLARE
    same text;
    current jsonb;
    columns text;
BEGIN
    SELECT string_agg(format('t.%1$I = k.%1$I', name), ' AND ') INTO same FROM jsonb_object_keys(key) name;
    SELECT image INTO current FROM undo_images(place, key) image;
    IF stands IS NULL THEN
        IF current IS NOT NULL THEN
            RETURN false;
        END IF;
        EXECUTE format(
            'INSERT INTO %1$s OVERRIDING SYSTEM VALUE SELECT * FROM jsonb_populate_record(NULL::%1$s, $1)', place
        ) USING wanted;
        RETURN true;
    END IF;
    IF current IS NULL OR EXISTS (
        SELECT FROM jsonb_each(stands) should WHERE current -> should.key IS DISTINCT FROM should.value
    ) THEN
        RETURN false;
    END IF;
    IF wanted IS NULL THEN
        EXECUTE format(
            'DELETE FROM %1$s t USING jsonb_populate_record(NULL::%1$s, $1) k WHERE %2$s', place, same
        ) USING key;
    ELSE
        SELECT string_agg(format('%1$I = w.%1$I', name), ', ') INTO columns FROM jsonb_object_keys(wanted) name;
        EXECUTE format(
            'UPDATE %1$s t SET %3$s FROM jsonb_populate_record(NULL::%1$s, $1) k,
                jsonb_populate_record(NULL::%1$s, $2) w WHERE %2$s', place, same, columns
        ) USING key, wanted;
    END IF;
    RETURN true;
END
$$;

-- What a document said, put away under a number of its own: no search finds a collection below zero.
CREATE FUNCTION kb_shelve_chunks(document bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    shelf bigint := nextval(pg_get_serial_sequence('kb_documents', 'id'));
BEGIN
    PERFORM kb_move_chunks(document, shelf, -1);
    RETURN shelf;
END
$$;

CREATE FUNCTION kb_move_chunks(document bigint, target bigint, sign integer) RETURNS void LANGUAGE sql AS $$
    UPDATE kb_terms SET collection_id = sign * abs(collection_id)
    WHERE chunk_id IN (SELECT id FROM kb_chunks WHERE document_id = document);
    UPDATE kb_vectors SET collection_id = sign * abs(collection_id)
    WHERE chunk_id IN (SELECT id FROM kb_chunks WHERE document_id = document);
    UPDATE kb_chunks SET document_id = target, collection_id = sign * abs(collection_id)
    WHERE document_id = document;
$$;

-- A document comes back with what it said; its vectors may have been removed meanwhile (another embedder).
CREATE FUNCTION kb_unshelve(document jsonb, shelf bigint) RETURNS void LANGUAGE sql AS $$
    SELECT undo_row('kb_documents', jsonb_build_object('id', document -> 'id'), NULL, document);
    SELECT kb_move_chunks(shelf, (document ->> 'id')::bigint, 1);
    UPDATE kb_documents SET spaces = ARRAY(
        SELECT DISTINCT v.space FROM kb_vectors v JOIN kb_chunks k ON k.id = v.chunk_id
        WHERE k.document_id = (document ->> 'id')::bigint
    ) WHERE id = (document ->> 'id')::bigint;
$$;
