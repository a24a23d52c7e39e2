-- What waits for a second person.

CREATE TABLE approvals (
  id             text PRIMARY KEY,
  kind           text NOT NULL,
  -- What was asked for, as it is carried out when it is approved.
  operation      text NOT NULL,
  params         jsonb NOT NULL,
  body           jsonb,
  requested_by   text NOT NULL REFERENCES operators,
  requested_name text NOT NULL,
  requested_at   timestamptz NOT NULL,
  expires_at     timestamptz NOT NULL,
  decision       text CHECK (decision IN ('approved', 'declined')),
  decided_by     text REFERENCES operators,
  decided_name   text,
  decided_at     timestamptz,
  reason         text,
  -- What came of it, sealed: for whoever asked, once.
  answer         bytea,
  answer_key_id  text
);
CREATE INDEX approvals_by_end ON approvals (coalesce(decided_at, expires_at));
CREATE INDEX approvals_uncollected ON approvals (decided_at) WHERE answer IS NOT NULL;

ALTER TABLE approvals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY no_tenant ON approvals USING ((SELECT porter_sees_all()));
