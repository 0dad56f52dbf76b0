-- Definitions of servers' tools as first seen or last accepted. The document is `json`: its digest must hold.
CREATE TABLE tool_pins (
    agent text NOT NULL,
    tool text NOT NULL,
    digest text NOT NULL,
    definition json NOT NULL,
    accepted boolean NOT NULL,
    pinned_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (agent, tool)
);
