-- Which model the vectors are from. There is one row as soon as there is a vector.
CREATE TABLE kb_space (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    embedder text NOT NULL,
    dimensions integer NOT NULL
);
INSERT INTO kb_space (embedder, dimensions) SELECT embedder, 384 FROM kb_documents ORDER BY id DESC LIMIT 1;
