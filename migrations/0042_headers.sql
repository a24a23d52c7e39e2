-- Headers of its own that a webhook is sent with each delivery. Their names are shown; with their values, they are sealed for the webhook.
ALTER TABLE webhooks
  ADD COLUMN header_names   text[] NOT NULL DEFAULT '{}',
  -- AES-256-GCM under the master key with this ID: JSON, the values by their names. Null: there are none.
  ADD COLUMN headers_sealed bytea,
  ADD COLUMN headers_key_id text;
