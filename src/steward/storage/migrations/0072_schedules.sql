-- Requests that an agent is given again and again, and each time that it was.
CREATE TABLE schedules (
    id         text PRIMARY KEY,
    user_id    text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    request    text NOT NULL,
    agent      text,
    said       text NOT NULL,               -- its times as they were said
    starts     timestamp NOT NULL,          -- by the owner's clock on the wall, in whatever zone they are
    rule       text,                        -- an RRULE (RFC 5545); null: once
    next_at    timestamptz,                 -- null: paused, or over
    paused     boolean NOT NULL DEFAULT false,
    last_at    timestamptz,
    created_at timestamptz NOT NULL
);

CREATE INDEX schedules_of_user ON schedules (user_id, created_at, id);
CREATE INDEX schedules_to_run ON schedules (next_at) WHERE next_at IS NOT NULL;

CREATE TABLE schedule_runs (
    schedule_id text NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    due         timestamptz NOT NULL,
    user_id     text NOT NULL,
    begun_at    timestamptz NOT NULL,
    conversation text,                      -- where its turn is
    ended_at    timestamptz,                -- null: it runs, or was cut off
    status      text,
    PRIMARY KEY (schedule_id, due)
);
