-- Vectors of texts, so that a start need not make them again: the same text has the same vector for ever.
CREATE TABLE text_vectors (
    embedder text NOT NULL,
    digest text NOT NULL,
    vector halfvec NOT NULL,
    PRIMARY KEY (embedder, digest)
);

-- Requests and the tool that served them: what use teaches tool search. They are their users' and go with them.
CREATE TABLE tool_requests (
    user_id text NOT NULL,
    tool text NOT NULL,
    request text NOT NULL,
    times integer NOT NULL DEFAULT 1,
    used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, tool, request)
);
CREATE INDEX tool_requests_newest ON tool_requests (used_at DESC);
