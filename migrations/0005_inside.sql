-- What only the service itself and its operators see.

-- Whether a secret was sealed for its webhook, so that it opens in no other row. Those from before are sealed anew at the start.
ALTER TABLE webhook_secrets ADD COLUMN is_bound boolean NOT NULL DEFAULT false;

ALTER TABLE operators
  -- What the token is for, or where it is kept.
  ADD COLUMN label        text,
  ADD COLUMN expires_at   timestamptz,
  -- To the minute.
  ADD COLUMN last_used_at timestamptz,
  -- The token of the first operator, sealed, as long as nobody has used it: every start shows it again.
  ADD COLUMN unused_token bytea,
  ADD COLUMN unused_token_key_id text;
