-- What a request with an Idempotency-Key was answered, so that the same request again runs nothing.
CREATE TABLE request_replays (
    caller text NOT NULL,
    key text NOT NULL,
    user_id text NOT NULL,
    request text NOT NULL,
    status integer,
    headers jsonb,
    body bytea,
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (caller, key)
);

CREATE INDEX request_replays_at ON request_replays (at);
