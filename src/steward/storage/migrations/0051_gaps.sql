-- What people asked for and could not get, once for each thing that was missing.
CREATE TABLE gaps (
    user_id text NOT NULL,
    missing text NOT NULL,
    task text NOT NULL,
    agent text,
    times integer NOT NULL DEFAULT 1,
    first_at timestamptz NOT NULL DEFAULT now(),
    last_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, missing)
);
