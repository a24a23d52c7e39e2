-- What somebody has to be told: alerts, whom they are told to, and the messages on their way.

-- ---- Alerts ----

-- Something that needs looking after, from when it began to when it ended. What it is about is named by its kind and subject
-- (contract/alerts.ts); `partner_id` is whose it is, null for what concerns the operator alone. `details` has what was known when it began;
-- never an object of a patient.
CREATE TABLE alerts (
  id                text PRIMARY KEY,
  kind              text NOT NULL,
  subject_type      text NOT NULL,
  subject_id        text NOT NULL,
  partner_id        text,
  practice_group_id text,
  details           jsonb NOT NULL,
  began_at          timestamptz NOT NULL,
  ended_at          timestamptz,
  ended_because     text
);
-- One that is open for each thing: two nodes, or a node after a crash, never begin it twice.
CREATE UNIQUE INDEX alerts_open ON alerts (kind, subject_id) WHERE ended_at IS NULL;
CREATE INDEX alerts_by_kind ON alerts (kind, id);
CREATE INDEX alerts_by_partner ON alerts (partner_id, id) WHERE partner_id IS NOT NULL;
CREATE INDEX alerts_ended_by_age ON alerts (ended_at) WHERE ended_at IS NOT NULL;

-- When was looked last, and up to which key for keys that nobody uses: these are looked through some at a time.
CREATE TABLE alert_head (
  is_head   boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  looked_at timestamptz NOT NULL,
  last_key  text NOT NULL DEFAULT ''
) WITH (fillfactor = 10);
INSERT INTO alert_head (looked_at) VALUES ('1970-01-01T00:00:00Z');

-- How many calls of a partner were refused in an hour, of those that are kept.
CREATE TABLE refusal_counts (
  hour       timestamptz NOT NULL,
  partner_id text NOT NULL,
  refused    integer NOT NULL,
  PRIMARY KEY (hour, partner_id)
) WITH (fillfactor = 50);

-- What is looked at once a minute is found without reading the rest.
CREATE INDEX webhook_lanes_failing ON webhook_lanes (failing_since) WHERE failing_since IS NOT NULL;
CREATE INDEX webhooks_disabled ON webhooks (no) WHERE status = 'disabled' AND deleted_at IS NULL;
CREATE INDEX partners_waiting ON partners (id) WHERE status IN ('applied', 'agreement_signed');
CREATE INDEX ehr_health_unhealthy ON ehr_health (changed_at) WHERE status = 'unhealthy';

-- ---- Whom they are told to ----

-- People of a partner, or, where `partner_id` is null, of the operator. The first one of a partner is not in here: it is `contact_email` of the
-- partner itself, which the version before writes too.
CREATE TABLE contacts (
  id         text PRIMARY KEY,
  partner_id text REFERENCES partners,
  email      text NOT NULL,
  name       text,
  -- Of which kinds it is told; null: of all, those to come included.
  alert_kinds text[],
  version    integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE INDEX contacts_by_partner ON contacts (coalesce(partner_id, ''), id);
ALTER TABLE partners ADD COLUMN contact_name text, ADD COLUMN contact_alert_kinds text[];

-- ---- Notifications ----

-- The outbox: that an alert began or ended, and who is still to be told; written with the alert. `partner_id` null: the operator. A row goes when
-- the messages that tell of it are written.
CREATE TABLE alert_notices (
  alert_id   text NOT NULL REFERENCES alerts ON DELETE CASCADE,
  moment     text NOT NULL CHECK (moment IN ('began', 'ended')),
  partner_id text,
  UNIQUE NULLS NOT DISTINCT (alert_id, moment, partner_id)
);

-- A message to one contact about everything that there was to tell. Its ID is in its Message-ID, and its text is written once: sent
-- twice, after a crash, it is the same message.
CREATE TABLE notifications (
  id          text PRIMARY KEY,
  -- Null: to a contact of the operator.
  partner_id  text,
  email       text NOT NULL,
  name        text,
  subject     text NOT NULL,
  body_text   text NOT NULL,
  body_html   text NOT NULL,
  created_at  timestamptz NOT NULL,
  -- Null when it was sent or given up. While it is being sent, when another node may take it over.
  try_at      timestamptz,
  tries       smallint NOT NULL DEFAULT 0,
  sent_at     timestamptz,
  -- Why the last attempt failed.
  error       text
);
CREATE INDEX notifications_waiting ON notifications (try_at) WHERE try_at IS NOT NULL;
CREATE INDEX notifications_failed ON notifications (id) WHERE try_at IS NULL AND sent_at IS NULL;
CREATE INDEX notifications_by_age ON notifications (created_at);
CREATE INDEX notifications_by_partner ON notifications (coalesce(partner_id, ''), created_at);

-- ---- Who sees which rows ----

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY '{alerts, alert_head, refusal_counts, contacts, alert_notices, notifications}'::text[] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
  END LOOP;
  FOREACH name IN ARRAY '{alerts, alert_head, refusal_counts, contacts, alert_notices, notifications}'::text[] LOOP
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
END $$;
CREATE POLICY partner_reads ON alerts FOR SELECT USING (partner_id = (SELECT current_setting('porter.partner', true)));
