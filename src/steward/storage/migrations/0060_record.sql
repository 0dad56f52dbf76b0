-- Programs that share this database, and when each was last heard of. Time is this server's own.
CREATE TABLE programs (
    id bigint PRIMARY KEY,
    host text NOT NULL,              -- where its process id means something
    pid integer NOT NULL,
    born double precision NOT NULL,  -- a process id is used again; its time of birth is not
    seen_at timestamptz NOT NULL DEFAULT now()
);

-- Whether a program was heard of lately. A server that just came up gives everybody time to report again.
CREATE FUNCTION program_heard(key bigint) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT FROM programs
        WHERE id = key AND greatest(seen_at, pg_postmaster_start_time()) > now() - interval '30 seconds'
    )
$$;

-- The record of calls: a chain of lines for each home, with the content beside it (telemetry/chain.py).
CREATE TABLE record_homes (
    home text PRIMARY KEY,
    public_key bytea NOT NULL,
    length bigint NOT NULL DEFAULT 0,
    link bytea NOT NULL              -- of the last line
);

-- How far each file of a home was read.
CREATE TABLE record_files (
    home text NOT NULL REFERENCES record_homes ON DELETE CASCADE,
    file text NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (home, file)
);

CREATE TABLE record_lines (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    home text NOT NULL REFERENCES record_homes ON DELETE CASCADE,
    number bigint NOT NULL,
    digest bytea NOT NULL,
    link bytea NOT NULL,
    salt bytea,                      -- with the content: gone once that is erased
    content text,
    file text NOT NULL,
    day date NOT NULL,
    at timestamptz NOT NULL,
    tool text NOT NULL,
    status text NOT NULL,
    call_id text NOT NULL,
    correlation_id text,
    owner text,                      -- the user; not `user_id`: these rows outlive their user, without content
    program bigint,
    ended boolean NOT NULL DEFAULT false,  -- another line says what became of it
    wiped boolean NOT NULL DEFAULT false,  -- erased in the home's file as well
    UNIQUE (home, number)
);
CREATE INDEX record_of_day ON record_lines (home, day);
CREATE INDEX record_newest ON record_lines (at DESC, id DESC);
CREATE INDEX record_of_tool ON record_lines (tool, at DESC, id DESC);
CREATE INDEX record_of_call ON record_lines (call_id);
CREATE INDEX record_of_correlation ON record_lines (correlation_id);
CREATE INDEX record_of_owner ON record_lines (owner) WHERE owner IS NOT NULL;
CREATE INDEX record_open ON record_lines (program) WHERE status = 'running' AND NOT ended;
CREATE INDEX record_unwiped ON record_lines (home) WHERE content IS NULL AND NOT wiped;
CREATE INDEX record_interrupted ON record_lines (at) WHERE status = 'interrupted' AND NOT ended;

CREATE TABLE record_checkpoints (
    home text NOT NULL REFERENCES record_homes ON DELETE CASCADE,
    number bigint NOT NULL,
    kind text NOT NULL CHECK (kind IN ('through', 'start')),
    link bytea NOT NULL,
    at timestamptz NOT NULL,
    signature bytea NOT NULL,
    PRIMARY KEY (home, number, kind)
);

-- Claims made before programs were listed: nobody can say any more whether theirs lives.
UPDATE proposals SET state = 'unknown' WHERE state = 'running';
