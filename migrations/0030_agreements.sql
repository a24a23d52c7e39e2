-- What was agreed with a partner: a record for each agreement that was signed. Of several the one that was signed last holds for the
-- partner; a key goes by the one that it was issued under.
CREATE TABLE agreements (
  id                    text PRIMARY KEY,
  partner_id            text NOT NULL REFERENCES partners,
  -- What the partners to it call it, where it is, and who signed. Null: nobody wrote it down.
  version               text,
  document_url          text,
  signatory             text,
  signed_at             timestamptz NOT NULL,
  -- Null: until further notice.
  ends_at               timestamptz,
  rate_limit_per_minute integer,
  -- A text, or targets that are measured (contract/sla.ts).
  sla                   json,
  -- Counts the changes: the ETag, and what optimistic locking compares.
  revision              integer NOT NULL DEFAULT 1,
  created_at            timestamptz NOT NULL,
  updated_at            timestamptz NOT NULL
);
CREATE INDEX agreements_by_partner ON agreements (partner_id, id);

-- Null: issued before its partner's agreement was a record, or by the version before; it goes by the terms of the partner.
ALTER TABLE api_keys ADD COLUMN agreement_id text REFERENCES agreements;
CREATE INDEX api_keys_by_agreement ON api_keys (agreement_id) WHERE agreement_id IS NOT NULL;

-- Of those who signed before, when and on which terms is known.
INSERT INTO agreements (id, partner_id, signed_at, rate_limit_per_minute, sla, created_at, updated_at)
SELECT 'agr_' || regexp_replace(id, '^prt_', ''), id, agreement_signed_at, rate_limit_per_minute, to_json(sla), agreement_signed_at,
       greatest(agreement_signed_at, updated_at)
  FROM partners WHERE agreement_signed_at IS NOT NULL;
UPDATE api_keys k SET agreement_id = a.id FROM agreements a WHERE a.partner_id = k.partner_id;

-- A partner reads its own, whichever practice group it acts for, and writes none.
ALTER TABLE agreements ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY no_tenant ON agreements USING ((SELECT porter_sees_all()));
CREATE POLICY partner_reads ON agreements FOR SELECT USING (partner_id = (SELECT current_setting('porter.partner', true)));
