-- name: pins_of_agent
SELECT agent, tool, digest, definition, accepted, registered
FROM tool_pins
WHERE agent = $1;

-- name: remember_pins
INSERT INTO tool_pins (agent, tool, digest, definition, accepted, registered)
SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::json[], $5::boolean[], $6::text[])
ON CONFLICT (agent, tool) DO UPDATE
SET registered = coalesce(tool_pins.registered, excluded.registered);

-- name: accept_pin
INSERT INTO tool_pins (agent, tool, digest, definition, accepted, registered)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (agent, tool) DO UPDATE
SET digest = excluded.digest, definition = excluded.definition, accepted = excluded.accepted, pinned_at = now(),
    registered = coalesce(tool_pins.registered, excluded.registered);
