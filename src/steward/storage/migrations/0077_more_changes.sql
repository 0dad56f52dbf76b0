-- Told to the page as well: notices, schedules, and jobs with how far they are (0075).
CREATE TRIGGER notices_change AFTER INSERT OR UPDATE OR DELETE ON notices
FOR EACH ROW EXECUTE FUNCTION tell_change('notices');
CREATE TRIGGER schedules_change AFTER INSERT OR UPDATE OR DELETE ON schedules
FOR EACH ROW EXECUTE FUNCTION tell_change('schedules');

-- A job is told by what it was given: the engine's rows name no user of their own.
CREATE FUNCTION steward_work.tell_job_change() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_notify('steward_changes', json_build_array('jobs', NEW.args ->> 'user', NEW.id)::text);
    RETURN NULL;
END
$$;

CREATE FUNCTION steward_work.tell_job_progress() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_notify('steward_changes', json_build_array('jobs', job.args ->> 'user', job.id)::text)
    FROM steward_work.procrastinate_jobs job WHERE job.id = NEW.job_id;
    RETURN NULL;
END
$$;

CREATE TRIGGER jobs_begun AFTER INSERT ON steward_work.procrastinate_jobs
FOR EACH ROW EXECUTE FUNCTION steward_work.tell_job_change();
CREATE TRIGGER jobs_change AFTER UPDATE OF status, abort_requested ON steward_work.procrastinate_jobs
FOR EACH ROW EXECUTE FUNCTION steward_work.tell_job_change();
CREATE TRIGGER job_notes_change AFTER INSERT OR UPDATE ON steward_work.job_notes
FOR EACH ROW EXECUTE FUNCTION steward_work.tell_job_progress();
