-- A query tells about the person who asked it: it is theirs to see, and goes when they are erased.
ALTER TABLE kb_queries ADD COLUMN user_id text;
UPDATE kb_queries SET user_id = 'local';
CREATE INDEX kb_queries_of_user ON kb_queries (user_id, id DESC);
