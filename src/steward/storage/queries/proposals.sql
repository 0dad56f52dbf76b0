-- name: add_proposal
INSERT INTO proposals (
    id, tool, arguments, digest, definition_hash, risk, confidence, reason, caller_kind, caller_id,
    user_id, utterance, call_id, correlation_id, created_at, expires_at, effect, elsewhere
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18);

-- name: settle_abandoned
-- Whoever ran these is gone without a word: they may have happened, and nobody will run them again.
UPDATE proposals SET state = 'unknown'
WHERE state = 'running' AND (instance IS NULL OR NOT program_heard(instance));

-- name: put_back_unheard
-- Taken in this program's name at these times, and it never heard so: nothing ran, and it waits as before.
UPDATE proposals SET
    state = 'waiting', approver = NULL, approved_at = NULL, approved_via = NULL, approved_arguments = NULL,
    approved_digest = NULL, edited = NULL, answered_by = DEFAULT, approver_role = NULL, approver_client = NULL,
    instance = NULL
FROM unnest($2::text[], $3::timestamptz[]) AS unheard (of, at)
WHERE id = of AND approved_at = at AND state = 'running' AND instance = $1
RETURNING id, at;

-- name: get_proposal
SELECT *, state = 'waiting' AND expires_at <= now() AS expired
FROM proposals
WHERE id = $1;

-- name: list_proposals
SELECT *, state = 'waiting' AND expires_at <= now() AS expired
FROM proposals
WHERE (
    $1::text[] = '{}'
    OR CASE WHEN state = 'waiting' AND expires_at <= now() THEN 'expired' ELSE state END = ANY ($1)
)
AND ($5::text IS NULL OR user_id = $5)
AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3))
ORDER BY created_at DESC, id DESC
LIMIT $4;

-- name: count_waiting
SELECT count(*) FROM proposals WHERE state = 'waiting' AND (expires_at IS NULL OR expires_at > now());

-- name: claim_proposal
UPDATE proposals SET
    state = 'running', approver = $2, approved_at = $3, approved_via = $4,
    approved_arguments = $5, approved_digest = $6, edited = $7,
    answered_by = $8, approver_role = $9, approver_client = $10, instance = $11
WHERE id = $1 AND state = 'waiting' AND (expires_at IS NULL OR expires_at > now())
RETURNING true;

-- name: finish_proposal
UPDATE proposals SET state = 'finished', result = $2, finished_at = $3
WHERE id = $1 AND state IN ('running', 'unknown');

-- name: reject_proposal
UPDATE proposals SET state = 'rejected', rejected_by = $2, rejected_at = $3, rejected_why = $4
WHERE id = $1 AND state = 'waiting' AND (expires_at IS NULL OR expires_at > now())
RETURNING true;
