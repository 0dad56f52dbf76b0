-- Users, their tasks, and what happened to each task.

CREATE TABLE users (
    id          text PRIMARY KEY,
    name        text NOT NULL,
    time_zone   text NOT NULL DEFAULT 'UTC',
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE tasks (
    id              text PRIMARY KEY,
    user_id         text NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title           text NOT NULL,
    description     text,
    due_at          timestamptz,          -- a day's start where only the day is known
    due_on          date,                 -- its day in the user's zone when it was set
    due_has_time    boolean NOT NULL DEFAULT false,
    priority        text NOT NULL DEFAULT 'medium' CHECK (priority IN ('low', 'medium', 'high')),
    recurrence      text,                 -- an RRULE (RFC 5545), without the leading name
    completed_at    timestamptz,
    created_at      timestamptz NOT NULL,
    updated_at      timestamptz NOT NULL,
    idempotency_key text,
    UNIQUE (user_id, idempotency_key),
    CHECK ((due_at IS NULL) = (due_on IS NULL))
);

CREATE INDEX tasks_of_user ON tasks (user_id, created_at DESC, id DESC);

-- One row a change, oldest first by id. A deletion removes the task's rows with it.
CREATE TABLE task_events (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id   text NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
    user_id   text NOT NULL,
    at        timestamptz NOT NULL,
    action    text NOT NULL CHECK (action IN ('added', 'updated', 'completed', 'reopened', 'undone')),
    before    jsonb,                      -- the changed columns as they were, null for 'added'
    after     jsonb NOT NULL,
    undone    boolean NOT NULL DEFAULT false
);

CREATE INDEX task_events_of_task ON task_events (task_id, id);
CREATE INDEX task_events_of_user ON task_events (user_id, id DESC) WHERE NOT undone;

-- Whatever a table holds under a user's id is that user's: one rule, so that no table is forgotten.
CREATE FUNCTION erase_user(erased text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    owned regclass;
BEGIN
    PERFORM FROM users WHERE id = erased FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    DELETE FROM tasks WHERE user_id = erased;
    FOR owned IN
        SELECT a.attrelid::regclass
        FROM pg_attribute a
        JOIN pg_class c ON c.oid = a.attrelid
        WHERE a.attname = 'user_id' AND NOT a.attisdropped AND c.relkind = 'r'
            AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'users'::regclass)
    LOOP
        EXECUTE format('DELETE FROM %s WHERE user_id = $1', owned) USING erased;
    END LOOP;
    DELETE FROM users WHERE id = erased;
    RETURN true;
END
$$;
