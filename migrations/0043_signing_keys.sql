-- Signatures that anybody can verify: Ed25519, with a key pair of the deployment.

-- How deliveries to a webhook are signed: by its own secret, by the deployment's key, or by both.
ALTER TABLE webhooks ADD COLUMN signature text NOT NULL DEFAULT 'hmac' CHECK (signature IN ('hmac', 'ed25519', 'both'));

CREATE TABLE signing_keys (
  id            text PRIMARY KEY,
  -- 32 bytes in base64.
  public_key    text NOT NULL UNIQUE,
  -- AES-256-GCM under the master key with this ID: the 32 bytes that the private key is made of.
  sealed        bytea NOT NULL,
  sealed_key_id text NOT NULL,
  created_at    timestamptz NOT NULL,
  -- Null for the newest; one that was rotated out still signs until then.
  expires_at    timestamptz
);
-- One that has no end, so that of two nodes that start at once one makes it.
CREATE UNIQUE INDEX signing_keys_newest ON signing_keys ((expires_at IS NULL)) WHERE expires_at IS NULL;
ALTER TABLE signing_keys ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY no_tenant ON signing_keys USING ((SELECT porter_sees_all()));
