-- Keys of the HTTP API and the gateway. Only the SHA-256 of a token is kept; a revoked key's row goes.
CREATE TABLE api_keys (
    id text PRIMARY KEY,
    name text NOT NULL UNIQUE,
    role text NOT NULL CHECK (role IN ('read', 'use', 'approve', 'admin')),
    user_id text NOT NULL,
    digest text NOT NULL,
    created_at timestamptz NOT NULL
);
