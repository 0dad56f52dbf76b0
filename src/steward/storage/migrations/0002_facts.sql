-- What people told Steward to remember. A removed fact stays, so that a removal can be taken back.
CREATE TABLE facts (
    id text PRIMARY KEY,
    user_id text NOT NULL,
    text text NOT NULL,
    fingerprint text NOT NULL,
    source text NOT NULL,
    created_at timestamptz NOT NULL,
    removed_at timestamptz
);

CREATE UNIQUE INDEX facts_once ON facts (user_id, fingerprint) WHERE removed_at IS NULL;
CREATE INDEX facts_newest ON facts (user_id, created_at DESC, id DESC) WHERE removed_at IS NULL;
