-- People who are signed in to the console.

CREATE TABLE sessions (
  id              text PRIMARY KEY,
  operator_id     text NOT NULL REFERENCES operators,
  -- The token itself is in the cookie alone.
  token_hash      bytea NOT NULL UNIQUE,
  -- The token before it, and until when that one works; null: until the new one has come.
  previous_hash   bytea UNIQUE,
  previous_until  timestamptz,
  rotated_at      timestamptz NOT NULL,
  -- From where and with what somebody signed in, so that a stranger is seen in the list.
  address         text NOT NULL,
  user_agent      text,
  created_at      timestamptz NOT NULL,
  last_used_at    timestamptz NOT NULL,
  idle_expires_at timestamptz NOT NULL,
  expires_at      timestamptz NOT NULL,
  revoked_at      timestamptz
);
CREATE INDEX sessions_by_operator ON sessions (operator_id, id);
CREATE INDEX sessions_by_end ON sessions (least(idle_expires_at, expires_at, revoked_at));

ALTER TABLE sessions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY no_tenant ON sessions USING ((SELECT porter_sees_all()));
