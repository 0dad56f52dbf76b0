-- A memory may be corrected in its spelling alone, and that be taken back: for a moment both then hold. Whoever
-- adds one holds the scope's lock, so that the same is kept once.
DROP INDEX memories_once;
CREATE INDEX memories_of_words
    ON memories (user_id, coalesce(agent, ''), coalesce(project, ''), fingerprint) WHERE superseded_at IS NULL;

-- Told to the page as well (0075).
CREATE TRIGGER memories_change AFTER INSERT OR UPDATE OR DELETE ON memories
FOR EACH ROW EXECUTE FUNCTION tell_change('memory');
