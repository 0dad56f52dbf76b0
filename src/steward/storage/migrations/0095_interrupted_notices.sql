-- An interrupted call that cannot be undone is told to its user like a reminder: its source is the call.
ALTER TABLE notices DROP CONSTRAINT notices_kind_check;
ALTER TABLE notices ADD CONSTRAINT notices_kind_check CHECK (kind IN ('reminder', 'schedule', 'interrupted'));
CREATE INDEX notices_untold ON notices (user_id, kind) WHERE seen_at IS NULL;
