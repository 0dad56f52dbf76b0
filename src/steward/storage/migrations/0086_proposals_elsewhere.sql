-- The proposal at another Steward that one here stands for: decided here, it is decided there.
ALTER TABLE proposals ADD COLUMN elsewhere text;
