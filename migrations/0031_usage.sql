-- How much each partner uses, how quickly it is served, and when the service ran: figures that are kept, by the day of UTC.

-- Calls by key, operation and outcome; deliveries by webhook and outcome. Nodes count in memory and add what they counted.
CREATE TABLE usage (
  partner_id text NOT NULL,
  day        date NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('call', 'delivery')),
  -- The key, or the webhook.
  subject_id text NOT NULL,
  -- Of a delivery, empty.
  operation  text NOT NULL,
  outcome    text NOT NULL,
  count      bigint NOT NULL,
  PRIMARY KEY (partner_id, day, kind, subject_id, operation, outcome)
) WITH (fillfactor = 50);
-- For the lists of all partners, and for what is too old.
CREATE INDEX usage_by_day ON usage (day, partner_id, kind, subject_id, operation, outcome);

-- How many calls were answered, and deliveries received, within so many milliseconds and not within the next lower bound (contract/sla.ts).
CREATE TABLE usage_times (
  partner_id text NOT NULL,
  day        date NOT NULL,
  kind       text NOT NULL CHECK (kind IN ('call', 'delivery')),
  up_to_ms   bigint NOT NULL,
  count      bigint NOT NULL,
  PRIMARY KEY (partner_id, day, kind, up_to_ms)
) WITH (fillfactor = 50);
CREATE INDEX usage_times_by_day ON usage_times (day);

-- The minutes of a day in which at least one node that answers calls could reach the database: a bit each.
CREATE TABLE uptime (
  day     date PRIMARY KEY,
  minutes bit(1440) NOT NULL
);

-- A partner reads its own, and writes none.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY '{usage, usage_times, uptime}'::text[] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
END $$;
CREATE POLICY partner_reads ON usage FOR SELECT USING (partner_id = (SELECT current_setting('porter.partner', true)));
CREATE POLICY partner_reads ON usage_times FOR SELECT USING (partner_id = (SELECT current_setting('porter.partner', true)));
