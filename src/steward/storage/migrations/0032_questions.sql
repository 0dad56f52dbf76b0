-- Questions that a tool had for a person when nobody could be asked at once.
CREATE TABLE questions (
    id text PRIMARY KEY,
    user_id text NOT NULL,
    text text NOT NULL,
    choices text[] NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT now(),
    answer text,
    answered_by text,
    answered_at timestamptz,
    CHECK ((answer IS NULL) = (answered_at IS NULL))
);

-- The same question waits once, however often it is asked.
CREATE UNIQUE INDEX questions_waiting ON questions (user_id, md5(text)) WHERE answer IS NULL;
CREATE INDEX questions_answered ON questions (user_id, md5(text), answered_at DESC) WHERE answer IS NOT NULL;
