-- Answers that are kept for the Idempotency-Key of any POST. They may show a secret, so they are sealed for the caller and its key. Those of
-- published events are kept as before: in `answer`, and for as long as the events.
ALTER TABLE idempotency_keys
  -- AES-256-GCM under the master key with this ID: the text of the answer. Null: `answer` has it.
  ADD COLUMN sealed        bytea,
  ADD COLUMN sealed_key_id text,
  -- From then on the key may be used for another call. Null: when it is cleared away with the events.
  ADD COLUMN expires_at    timestamptz;
CREATE INDEX idempotency_keys_by_expiry ON idempotency_keys (expires_at) WHERE expires_at IS NOT NULL;
