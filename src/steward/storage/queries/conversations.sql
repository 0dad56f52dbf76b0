-- name: create_conversation
-- Held, with what was said.
WITH made AS (
    INSERT INTO conversations (id, user_id, agent, title, history, lease, leased_until)
    SELECT $1, users.id, $3, $4, $5, 1, now() + $6::interval FROM users WHERE users.id = $2 FOR KEY SHARE
    RETURNING id, user_id, agent, title, created_at, updated_at, history, pending, lease
), opened AS (
    INSERT INTO open_turns (conversation_id, said, caller_kind, caller_id)
    SELECT made.id, $7, $8, $9 FROM made
)
SELECT made.*, true AS running FROM made;

-- name: claim_conversation
-- For one turn at a time. A lease without a sign of life holds nobody up. What a turn left behind stays.
WITH held AS (
    UPDATE conversations SET lease = lease + 1, leased_until = now() + $3::interval, stop_requested = false
    WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL AND (leased_until IS NULL OR leased_until < now())
    RETURNING id, user_id, agent, title, created_at, updated_at, history, pending, lease
), opened AS (
    INSERT INTO open_turns (conversation_id, said, caller_kind, caller_id)
    SELECT held.id, $4, $5, $6 FROM held
    ON CONFLICT (conversation_id) DO NOTHING
    RETURNING true
)
SELECT held.*, true AS running, NOT EXISTS (SELECT FROM opened) AS left_behind FROM held;

-- name: claim_left_turn
-- To go on with a turn: one that nobody holds any more, or the one that was queued under this number.
WITH left_behind AS (
    SELECT c.id FROM conversations c JOIN open_turns o ON o.conversation_id = c.id
    WHERE c.id = $1 AND c.user_id = $2 AND c.deleted_at IS NULL
        AND (c.leased_until IS NULL OR c.leased_until < now() OR (o.queued AND c.lease = $4))
    FOR UPDATE
), counted AS (
    UPDATE open_turns SET queued = false, resumed = resumed + CASE WHEN queued THEN 0 ELSE 1 END
    FROM left_behind WHERE conversation_id = left_behind.id
)
UPDATE conversations SET lease = lease + 1, leased_until = now() + $3::interval, stop_requested = false
FROM left_behind
WHERE conversations.id = left_behind.id
RETURNING conversations.id, user_id, agent, title, created_at, updated_at, history, pending, lease,
    true AS running;

-- name: get_open_turn
SELECT said, caller_kind, caller_id, queued, resumed, at FROM open_turns WHERE conversation_id = $1;

-- name: get_open_calls
SELECT call_id, tool, arguments, within, record FROM open_turn_calls
WHERE conversation_id = $1 ORDER BY number;

-- name: queue_turn
-- Nobody else takes it for so long; a worker that knows its number does at once.
WITH parked AS (
    UPDATE conversations SET leased_until = now() + $3::interval WHERE id = $1 AND lease = $2
    RETURNING id
)
UPDATE open_turns SET queued = true FROM parked WHERE conversation_id = parked.id RETURNING true;

-- name: leave_turn
UPDATE conversations SET leased_until = now() WHERE id = $1 AND lease = $2;

-- name: left_turns
SELECT c.id, c.user_id, c.title FROM open_turns o JOIN conversations c ON c.id = o.conversation_id
WHERE c.deleted_at IS NULL AND (c.leased_until IS NULL OR c.leased_until < now())
ORDER BY o.at LIMIT $1;

-- name: begin_call
-- The check of the lease and the note of the call in one. Not waited for on the disk: it has to survive the
-- program, and the turn's own end makes sure of everything before it.
WITH quick AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
), held AS (
    SELECT conversations.id FROM quick, conversations
    WHERE conversations.id = $1 AND lease = $2 FOR SHARE OF conversations
)
INSERT INTO open_turn_calls (conversation_id, call_id, tool, arguments, within)
SELECT held.id, $3, $4, $5, $6 FROM held
ON CONFLICT (conversation_id, call_id) DO UPDATE SET record = NULL
RETURNING true;

-- name: end_call
-- With whoever holds the conversation by now: what happened has happened.
WITH quick AS MATERIALIZED (
    SELECT set_config('synchronous_commit', 'off', true)
)
UPDATE open_turn_calls SET record = $3 FROM quick WHERE conversation_id = $1 AND call_id = $2;

-- name: release_conversation
WITH freed AS (
    UPDATE conversations SET leased_until = NULL WHERE id = $1 AND lease = $2 RETURNING id
)
DELETE FROM open_turns USING freed WHERE conversation_id = freed.id;

-- name: request_stop
UPDATE conversations SET stop_requested = true
WHERE id = $1 AND user_id = $2 AND leased_until > now()
RETURNING true;

-- name: renew_leases
-- A turn that has just ended is not held again by a sign of life that was under way, and is not lost either.
WITH mine AS (
    SELECT * FROM unnest($1::text[], $2::bigint[]) AS given (id, lease)
), renewed AS (
    UPDATE conversations SET leased_until = now() + $3::interval
    FROM mine
    WHERE conversations.id = mine.id AND conversations.lease = mine.lease AND leased_until IS NOT NULL
)
SELECT conversations.id, stop_requested FROM conversations JOIN mine USING (id, lease);

-- name: append_turn
WITH kept AS (
    UPDATE conversations
    SET history = $3, pending = $4, thread = $5, updated_at = now(), leased_until = NULL
    WHERE id = $1 AND lease = $2 AND deleted_at IS NULL
    RETURNING id, user_id
), closed AS (
    DELETE FROM open_turns USING kept WHERE conversation_id = kept.id
)
INSERT INTO conversation_turns (conversation_id, number, user_id, said, speaker, answer)
SELECT kept.id, (SELECT coalesce(max(number), 0) + 1 FROM conversation_turns WHERE conversation_id = $1),
    kept.user_id, $6, $7, $8
FROM kept
RETURNING true;

-- name: get_conversation
SELECT id, user_id, agent, title, created_at, updated_at, history, pending, lease,
    coalesce(leased_until > now(), false) AS running
FROM conversations
WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL;

-- name: latest_turns
SELECT number, said, speaker, answer, at
FROM conversation_turns
WHERE conversation_id = $1
ORDER BY number DESC
LIMIT $2;

-- name: list_conversations
SELECT id, user_id, agent, title, created_at, updated_at, '[]' AS history, pending, lease,
    coalesce(leased_until > now(), false) AS running
FROM conversations
WHERE user_id = $1 AND deleted_at IS NULL AND ($2::timestamptz IS NULL OR (updated_at, id) < ($2, $3))
    AND (
        $5::text IS NULL
        OR strpos(lower(title), lower($5)) > 0
        OR EXISTS (
            SELECT FROM conversation_turns t
            WHERE t.conversation_id = conversations.id
                AND (strpos(lower(t.said), lower($5)) > 0 OR strpos(lower(answered_words(t.answer)), lower($5)) > 0)
        )
    )
ORDER BY updated_at DESC, id DESC
LIMIT $4;

-- name: find_thread
SELECT id FROM conversations WHERE user_id = $1 AND thread = $2 AND deleted_at IS NULL ORDER BY updated_at DESC LIMIT 1;

-- name: rename_conversation
UPDATE conversations SET title = $3 WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL RETURNING true;

-- name: delete_conversation
-- Put away; a turn that is under way finds nothing to append to. What was put away long ago goes for good.
WITH gone AS (DELETE FROM conversations WHERE deleted_at < now() - $3::interval)
UPDATE conversations SET deleted_at = now()
WHERE id = $1 AND user_id = $2 AND deleted_at IS NULL
RETURNING true;

-- name: restore_conversation
UPDATE conversations SET deleted_at = NULL
WHERE id = $1 AND user_id = $2 AND deleted_at >= now() - $3::interval
RETURNING true;
