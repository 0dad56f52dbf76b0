CREATE EXTENSION IF NOT EXISTS vector;

-- Calls that wait for a person. `json`, not `jsonb`: arguments run exactly as they were shown and digested.
CREATE TABLE proposals (
    id text PRIMARY KEY,
    tool text NOT NULL,
    arguments json NOT NULL,
    digest text NOT NULL,
    definition_hash text NOT NULL,
    risk text NOT NULL,
    confidence double precision NOT NULL,
    reason text NOT NULL,
    caller_kind text NOT NULL,
    caller_id text NOT NULL,
    user_id text,
    utterance text,
    call_id text NOT NULL,
    correlation_id text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'rejected', 'running', 'finished', 'unknown')),
    -- The receipt: who said yes to exactly what.
    approver text,
    approved_at timestamptz,
    approved_via text,
    approved_arguments json,
    approved_digest text,
    edited boolean,
    -- The program that runs it; see presence.py.
    instance bigint,
    rejected_by text,
    rejected_at timestamptz,
    rejected_why text,
    result json,
    finished_at timestamptz,
    CHECK ((state IN ('running', 'finished', 'unknown')) = (approver IS NOT NULL)),
    CHECK ((state = 'rejected') = (rejected_by IS NOT NULL)),
    CHECK ((state = 'finished') = (result IS NOT NULL))
);

CREATE INDEX proposals_newest ON proposals (created_at DESC, id DESC);
CREATE INDEX proposals_running ON proposals (instance) WHERE state = 'running';
