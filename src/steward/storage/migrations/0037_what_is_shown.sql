-- What a call would do, as a person was told; and the name under which a server's tool was first registered,
-- so that a rating of that name never comes to mean another tool.
ALTER TABLE proposals ADD COLUMN effect text;
ALTER TABLE tool_pins ADD COLUMN registered text;
