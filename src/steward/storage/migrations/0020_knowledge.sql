-- The knowledge base: collections of documents, their chunks with vectors and search terms, projects, history.
CREATE TABLE kb_collections (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    kind text NOT NULL CHECK (kind IN ('fundamental', 'project-specific')),
    created_at timestamptz NOT NULL DEFAULT now(),
    -- What the term statistics below were counted on.
    counted_chunks integer NOT NULL DEFAULT 0,
    average_length real NOT NULL DEFAULT 0
);

CREATE TABLE kb_projects (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE kb_project_collections (
    project_id integer NOT NULL REFERENCES kb_projects ON DELETE CASCADE,
    collection_id integer NOT NULL REFERENCES kb_collections ON DELETE CASCADE,
    is_default boolean NOT NULL DEFAULT false,
    PRIMARY KEY (project_id, collection_id)
);
CREATE INDEX kb_project_collections_reverse ON kb_project_collections (collection_id);

CREATE TABLE kb_documents (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    collection_id integer NOT NULL REFERENCES kb_collections ON DELETE CASCADE,
    source text NOT NULL,
    title text NOT NULL,
    media_type text NOT NULL,
    sha256 text NOT NULL,
    size bigint NOT NULL,
    root text,
    embedder text NOT NULL,
    chunks integer NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    ingested_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX kb_documents_once ON kb_documents (collection_id, md5(source));

CREATE TABLE kb_chunks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    document_id bigint NOT NULL REFERENCES kb_documents ON DELETE CASCADE,
    collection_id integer NOT NULL,
    sequence integer NOT NULL,
    kind text NOT NULL,
    header_path text NOT NULL,
    page integer,
    span_start bigint NOT NULL,
    span_end bigint NOT NULL,
    content text NOT NULL
);
CREATE INDEX kb_chunks_document ON kb_chunks (document_id);

-- Narrow tables for the two candidate searches, so that neither reads the texts.
CREATE TABLE kb_vectors (
    chunk_id bigint PRIMARY KEY REFERENCES kb_chunks ON DELETE CASCADE,
    collection_id integer NOT NULL,
    embedding halfvec(384) NOT NULL
);
ALTER TABLE kb_vectors ALTER COLUMN embedding SET STORAGE PLAIN;
CREATE INDEX kb_vectors_collection ON kb_vectors (collection_id);

-- A term's weight letter says how often it occurs: D once, C twice, B three or four times, A more.
CREATE TABLE kb_terms (
    chunk_id bigint PRIMARY KEY REFERENCES kb_chunks ON DELETE CASCADE,
    collection_id integer NOT NULL,
    length integer NOT NULL,
    terms tsvector NOT NULL
);
CREATE INDEX kb_terms_collection ON kb_terms (collection_id);
CREATE INDEX kb_terms_terms ON kb_terms USING gin (terms);

CREATE TABLE kb_frequencies (
    collection_id integer NOT NULL REFERENCES kb_collections ON DELETE CASCADE,
    term text NOT NULL,
    chunks integer NOT NULL,
    PRIMARY KEY (collection_id, term)
);

CREATE TABLE kb_queries (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    query text NOT NULL,
    collections text[] NOT NULL,
    results integer NOT NULL,
    best real,
    refinement text NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT now()
);
