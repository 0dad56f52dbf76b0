-- Who made a call, as kind:id, and whether it was only a look of a surface: the record is filtered by both.
ALTER TABLE record_lines ADD COLUMN caller text;
ALTER TABLE record_lines ADD COLUMN incidental boolean NOT NULL DEFAULT false;
-- The caller stands before what went in, so only the beginning of a line is read.
UPDATE record_lines SET caller = said.parts[1] || ':' || said.parts[2]
FROM (
    SELECT id, regexp_match(
        left(content, 4000),
        '^\{(?:"[a-z_]+":(?:"(?:[^"\\]|\\.)*"|null|true|false|[0-9.]+),)*"caller":\{"kind":"([a-z]+)","id":"([^"\\]+)"\}'
    ) AS parts
    FROM record_lines WHERE content IS NOT NULL
) said
WHERE record_lines.id = said.id AND said.parts IS NOT NULL;
CREATE INDEX record_of_caller ON record_lines (caller, at DESC, id DESC) WHERE caller IS NOT NULL;
