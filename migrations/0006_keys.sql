-- Keys: a label, where from they may be used, what must be shown beside them, and when they were used last.

ALTER TABLE api_keys
  ADD COLUMN label                    text,
  -- Addresses and ranges; null: from anywhere.
  ADD COLUMN allowed_addresses        text[],
  ADD COLUMN proof                    text NOT NULL DEFAULT 'none' CHECK (proof IN ('none', 'mtls', 'private_key_jwt')),
  -- SHA-256 of the certificates that are taken, in lower-case hex.
  ADD COLUMN certificate_fingerprints text[] NOT NULL DEFAULT '{}',
  -- The public keys that sign assertions. Not jsonb: it comes back as it was sent.
  ADD COLUMN jwks                     json,
  -- When, by whom and where it was reported as leaked; null: never.
  ADD COLUMN leak                     json,
  -- Grows with every change: the ETag, and what optimistic locking compares.
  ADD COLUMN version                  integer NOT NULL DEFAULT 1;

ALTER TABLE partners ADD COLUMN version integer NOT NULL DEFAULT 1;

-- Apart from the keys, because it is written every minute: nobody who changes a key waits for it, and keys are to be replicated to every cell.
CREATE TABLE key_uses (
  key_id         text PRIMARY KEY,
  last_used_at   timestamptz NOT NULL,
  last_used_from text NOT NULL
) WITH (fillfactor = 50);

-- Signed assertions that were used: each is good for one call on one node. Cleared some minutes after they expire.
CREATE TABLE used_assertions (
  key_id     text NOT NULL,
  jti        text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (key_id, jti)
);
CREATE INDEX used_assertions_by_age ON used_assertions (expires_at);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY '{key_uses, used_assertions}'::text[] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
END $$;

ALTER TABLE refused_requests
  -- Of a call with a key that is known: why the key was refused.
  ADD COLUMN reason  text,
  ADD COLUMN address text;
