-- Turns that survive their program. Whoever takes a turn has the conversation on lease: a number that grows with
-- each holder (so that an earlier one is told apart before each call and at the end), and a time until when it
-- holds without a sign of life. `claimed_by` is no longer read; it stays for instances that still write it.
ALTER TABLE conversations
    ADD COLUMN lease bigint NOT NULL DEFAULT 0,
    ADD COLUMN leased_until timestamptz;

-- The turn under way: what was said is kept when it arrives.
CREATE TABLE open_turns (
    conversation_id text PRIMARY KEY REFERENCES conversations (id) ON DELETE CASCADE,
    said text NOT NULL,
    -- Who said it: a kind and a name. With what right they may decide is not kept: a yes is given anew.
    caller_kind text NOT NULL,
    caller_id text NOT NULL,
    -- A turn that waits for a worker was never begun; any other one that nobody holds was left behind.
    queued boolean NOT NULL DEFAULT false,
    resumed integer NOT NULL DEFAULT 0,
    at timestamptz NOT NULL DEFAULT now()
);

-- Its calls: a row before each begins, its record when it ends.
CREATE TABLE open_turn_calls (
    conversation_id text NOT NULL REFERENCES open_turns (conversation_id) ON DELETE CASCADE,
    call_id text NOT NULL,
    number bigserial,
    tool text NOT NULL,
    -- `json`, not `jsonb`: a call is compared and shown exactly as it was.
    arguments json NOT NULL,
    -- The call of this turn that made this one, where an agent asked another one.
    within text,
    record json,
    PRIMARY KEY (conversation_id, call_id)
);
