-- A user's jobs hold what they said: they go with the user.
CREATE FUNCTION steward_work.erase_jobs_of_user() RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    DELETE FROM steward_work.procrastinate_jobs WHERE args ->> 'user' = OLD.id;
    RETURN OLD;
END;
$$;

CREATE TRIGGER erase_jobs AFTER DELETE ON users
    FOR EACH ROW EXECUTE FUNCTION steward_work.erase_jobs_of_user();
