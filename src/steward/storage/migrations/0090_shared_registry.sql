-- What instances on one database share beside its rows: the files of their homes that say which tools, servers,
-- rules and skills there are. Each change of a file is a version; the newest one of a path counts.
CREATE TABLE registry (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    single boolean NOT NULL UNIQUE DEFAULT true CHECK (single)
);
INSERT INTO registry DEFAULT VALUES;

CREATE TABLE registry_files (
    path text NOT NULL,
    version bigint NOT NULL,
    sha256 text,  -- NULL: removed with this version
    content bytea,
    executable boolean NOT NULL DEFAULT false,
    made_at timestamptz NOT NULL DEFAULT now(),
    made_by text NOT NULL,
    PRIMARY KEY (path, version),
    CHECK ((sha256 IS NULL) = (content IS NULL))
);
CREATE INDEX registry_files_by_version ON registry_files (version);

CREATE FUNCTION tell_registry() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_notify('steward_changes', json_build_array(TG_ARGV[0], NULL, '')::text);
    RETURN NULL;
END
$$;
CREATE TRIGGER registry_files_change AFTER INSERT ON registry_files
FOR EACH STATEMENT EXECUTE FUNCTION tell_registry('registry');
-- What a person accepted of a server's tools counts for the same definition on every instance.
CREATE TRIGGER tool_pins_change AFTER UPDATE OF digest ON tool_pins
FOR EACH STATEMENT EXECUTE FUNCTION tell_registry('pins');

-- Requests of each caller, counted by each program since it began: what the others counted is charged here too.
-- Not worth a log: after a crash everybody begins anew.
CREATE UNLOGGED TABLE request_counts (
    caller text NOT NULL,
    program bigint NOT NULL,
    total bigint NOT NULL,
    counted_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (caller, program)
);
CREATE INDEX request_counts_by_time ON request_counts (counted_at);
