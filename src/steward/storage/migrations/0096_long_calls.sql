-- Calls over MCP that outlast their request: how far they are, what their client said, how they ended.
CREATE TABLE long_calls (
    id text PRIMARY KEY,
    caller text NOT NULL,
    user_id text NOT NULL,
    state text NOT NULL DEFAULT 'working' CHECK (state IN ('working', 'completed', 'failed', 'cancelled')),
    note text,
    questions bytea NOT NULL DEFAULT '{}',
    answers bytea[] NOT NULL DEFAULT '{}',
    stopping boolean NOT NULL DEFAULT false,
    outcome bytea,
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    beat_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX long_calls_created ON long_calls (created_at);
