-- Which release applied each migration, so that a newer one can say what is new since then.
ALTER TABLE steward_migrations ADD COLUMN IF NOT EXISTS release text;
