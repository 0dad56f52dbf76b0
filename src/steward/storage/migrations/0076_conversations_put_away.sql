-- A deleted conversation can be taken back for a while; then it goes for good (delete_conversation).
ALTER TABLE conversations ADD COLUMN deleted_at timestamptz;
CREATE INDEX conversations_put_away ON conversations (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TRIGGER conversations_put_away_change AFTER UPDATE OF deleted_at ON conversations
FOR EACH ROW EXECUTE FUNCTION tell_change('conversations');

-- What was answered, for a search. A document with a character that is no text (in some tool's result) can be
-- kept as `json` and not taken apart: nothing is found in it, and the search goes on.
CREATE FUNCTION answered_words(answer json) RETURNS text
LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
    RETURN answer ->> 'answer';
EXCEPTION WHEN untranslatable_character OR data_exception THEN
    RETURN '';
END
$$;
