-- A receipt says which role the key had, through which program the answer came, and whether a person gave it.
ALTER TABLE proposals
    ADD COLUMN answered_by text NOT NULL DEFAULT 'person' CHECK (answered_by IN ('person', 'client')),
    ADD COLUMN approver_role text,
    ADD COLUMN approver_client text;
CREATE INDEX proposals_of_user ON proposals (user_id, created_at DESC, id DESC);
