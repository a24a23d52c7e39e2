-- Invitations that are over are found by when they ended, for retention.

CREATE INDEX invitations_by_end ON invitations (greatest(created_at, expires_at, entered_at, revoked_at)) WHERE try_at IS NULL;
