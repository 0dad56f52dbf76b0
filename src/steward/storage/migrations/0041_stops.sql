-- A turn may run in another program than the one that is asked to stop it: the wish is left here.
ALTER TABLE conversations ADD COLUMN stop_requested boolean NOT NULL DEFAULT false;

-- Whether the program with this key is alive: it holds a lock on it while it is; see presence.py.
CREATE FUNCTION program_lives(key bigint) RETURNS boolean
LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND ((classid::bigint << 32) | objid::bigint) = key
    )
$$;
