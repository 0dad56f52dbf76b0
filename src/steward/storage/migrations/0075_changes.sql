-- What changed, told to every program that listens (storage/database/changes.py): which room, whose, which one.
-- No content: whoever hears of it asks for it with their own right.
CREATE FUNCTION tell_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM pg_notify('steward_changes', json_build_array(TG_ARGV[0], OLD.user_id, OLD.id)::text);
    ELSE
        PERFORM pg_notify('steward_changes', json_build_array(TG_ARGV[0], NEW.user_id, NEW.id)::text);
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER proposals_change AFTER INSERT OR UPDATE OR DELETE ON proposals
FOR EACH ROW EXECUTE FUNCTION tell_change('approvals');
CREATE TRIGGER questions_change AFTER INSERT OR UPDATE OR DELETE ON questions
FOR EACH ROW EXECUTE FUNCTION tell_change('approvals');
CREATE TRIGGER tasks_change AFTER INSERT OR UPDATE OR DELETE ON tasks
FOR EACH ROW EXECUTE FUNCTION tell_change('tasks');
CREATE TRIGGER conversations_change AFTER INSERT OR DELETE ON conversations
FOR EACH ROW EXECUTE FUNCTION tell_change('conversations');
-- A lease that is only renewed is no news.
CREATE TRIGGER conversations_new_change AFTER UPDATE ON conversations
FOR EACH ROW WHEN (
    OLD.lease <> NEW.lease OR OLD.updated_at <> NEW.updated_at OR OLD.title <> NEW.title
    OR (OLD.leased_until IS NULL) <> (NEW.leased_until IS NULL)
) EXECUTE FUNCTION tell_change('conversations');
