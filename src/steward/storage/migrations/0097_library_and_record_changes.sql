-- Told to the page as well: the library, and the record where lines came to it (0075). Once a transaction, however
-- many rows it writes, and to everybody: whoever hears of it asks with their own right.
CREATE TRIGGER kb_documents_change AFTER INSERT OR UPDATE OR DELETE ON kb_documents
FOR EACH STATEMENT EXECUTE FUNCTION tell_registry('documents');
CREATE TRIGGER kb_collections_change AFTER INSERT OR UPDATE OR DELETE ON kb_collections
FOR EACH STATEMENT EXECUTE FUNCTION tell_registry('documents');
CREATE TRIGGER kb_projects_change AFTER INSERT OR UPDATE OR DELETE ON kb_projects
FOR EACH STATEMENT EXECUTE FUNCTION tell_registry('documents');
CREATE TRIGGER kb_project_collections_change AFTER INSERT OR UPDATE OR DELETE ON kb_project_collections
FOR EACH STATEMENT EXECUTE FUNCTION tell_registry('documents');
-- A home's length is written once for each batch of lines.
CREATE TRIGGER record_homes_change AFTER UPDATE OF length ON record_homes
FOR EACH STATEMENT EXECUTE FUNCTION tell_registry('activity');
