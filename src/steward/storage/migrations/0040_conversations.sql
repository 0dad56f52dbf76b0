-- Conversations. `history` is a model's messages as JSON text: read and written whole, opaque to the database.
CREATE TABLE conversations (
    id text PRIMARY KEY,
    user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    agent text NOT NULL,
    title text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    history text NOT NULL DEFAULT '[]',
    pending json NOT NULL DEFAULT '[]',
    -- What a client that keeps no id will send back, as a fingerprint.
    thread text,
    -- The program that takes a turn now; see presence.py.
    claimed_by bigint
);

CREATE INDEX conversations_of_user ON conversations (user_id, updated_at DESC, id DESC);
CREATE INDEX conversations_of_thread ON conversations (user_id, thread) WHERE thread IS NOT NULL;

CREATE TABLE conversation_turns (
    conversation_id text NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    number integer NOT NULL,
    user_id text NOT NULL,
    said text NOT NULL,
    speaker text NOT NULL,
    -- With its tool calls. `json`, not `jsonb`: results come back exactly as they were.
    answer json NOT NULL,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (conversation_id, number)
);
