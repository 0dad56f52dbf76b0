-- What Steward told people of its own accord, and how far it came. A source and a time are told once.
CREATE TABLE notices (
    id           text PRIMARY KEY,
    number       bigint GENERATED ALWAYS AS IDENTITY,
    user_id      text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    kind         text NOT NULL CHECK (kind IN ('reminder', 'schedule')),
    source       text NOT NULL,              -- the task or the schedule; its notices go with it
    due          timestamptz NOT NULL,
    title        text NOT NULL,
    text         text NOT NULL,
    conversation text,
    proposal_id  text,
    made_at      timestamptz NOT NULL,
    seen_at      timestamptz,
    deliveries   jsonb NOT NULL DEFAULT '{}',
    UNIQUE (source, due)
);

CREATE UNIQUE INDEX notices_in_order ON notices (number);
CREATE INDEX notices_of_user ON notices (user_id, number);

-- Where somebody wants to be told, beside the page and the terminal. An address may hold a token.
CREATE TABLE notice_addresses (
    user_id text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    medium  text NOT NULL CHECK (medium IN ('desktop', 'webhook', 'ntfy', 'email')),
    address text NOT NULL,
    PRIMARY KEY (user_id, medium)
);
