-- Tasks that tell their owner.
ALTER TABLE tasks
    ADD COLUMN notify        boolean NOT NULL DEFAULT false,
    ADD COLUMN notify_set_at timestamptz,   -- a moment said instead of the due time, until it has been told
    ADD COLUMN tell_at       timestamptz;   -- when the owner is told next; null: nothing is left to tell

CREATE INDEX tasks_to_tell ON tasks (tell_at) WHERE tell_at IS NOT NULL;
