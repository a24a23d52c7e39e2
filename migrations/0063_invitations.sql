-- People of partners and practices, who enter the console by an invitation.

CREATE TABLE invitations (
  id                text PRIMARY KEY,
  partner_id        text REFERENCES partners,
  practice_group_id text,
  email             text NOT NULL,
  name              text NOT NULL,
  invited_by        text NOT NULL REFERENCES operators,
  invited_by_name   text NOT NULL,
  created_at        timestamptz NOT NULL,
  -- Of the token in the last message; it is made as the message is sent, and is nowhere but there.
  token_hash        bytea UNIQUE,
  -- Null when it was sent or given up. While it is being sent, when another node may take it over.
  try_at            timestamptz,
  tries             smallint NOT NULL DEFAULT 0,
  sent_at           timestamptz,
  error             text,
  expires_at        timestamptz,
  entered_at        timestamptz,
  revoked_at        timestamptz,
  CHECK (num_nonnulls(partner_id, practice_group_id) = 1)
);
CREATE INDEX invitations_waiting ON invitations (try_at) WHERE try_at IS NOT NULL;

ALTER TABLE sessions
  ALTER COLUMN operator_id DROP NOT NULL,
  ADD COLUMN invitation_id text REFERENCES invitations,
  ADD CHECK (num_nonnulls(operator_id, invitation_id) = 1);
CREATE INDEX sessions_by_invitation ON sessions (invitation_id) WHERE invitation_id IS NOT NULL;

ALTER TABLE invitations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY no_tenant ON invitations USING ((SELECT porter_sees_all()));
