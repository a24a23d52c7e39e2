-- What a network grants, and to whom. Null: everything, to every partner with a key in it.
ALTER TABLE networks ADD COLUMN scopes text[], ADD COLUMN partner_ids text[];

-- Since when the deliveries to a webhook are withheld, because its partner may not have them any more, and why (src/sql/events/why_withheld.sql). It
-- says of the whole queue what else would be written to each delivery. Null: they are not.
ALTER TABLE webhooks ADD COLUMN withheld_since timestamptz, ADD COLUMN withheld_reason text;
CREATE INDEX webhooks_withheld ON webhooks (no) WHERE withheld_since IS NOT NULL;
