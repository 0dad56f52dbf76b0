-- What was learned, by whom and when. A memory that a newer one contradicts stays, marked, as its history.
CREATE TABLE memories (
    id text PRIMARY KEY,
    user_id text NOT NULL,
    agent text,
    project text,
    conversation text,
    content text NOT NULL,
    context text NOT NULL DEFAULT '',
    source text NOT NULL,
    metadata jsonb NOT NULL DEFAULT '{}',
    happened_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    superseded_by text REFERENCES memories ON DELETE SET NULL,
    superseded_at timestamptz,
    fingerprint text NOT NULL,
    embedder text NOT NULL,
    length integer NOT NULL,
    terms tsvector NOT NULL,
    embedding halfvec(384) NOT NULL
);
CREATE INDEX memories_of_user ON memories (user_id, created_at DESC, id DESC);
CREATE INDEX memories_conversation ON memories (user_id, conversation, created_at DESC)
    WHERE conversation IS NOT NULL;
CREATE UNIQUE INDEX memories_once
    ON memories (user_id, coalesce(agent, ''), coalesce(project, ''), fingerprint) WHERE superseded_at IS NULL;
