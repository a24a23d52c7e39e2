-- What the console asks: figures by the minute, the nodes that are alive, and where a piece of text belongs.

-- ---- Figures over time ----

-- Calls and attempts to deliver, counted in memory by every node and added here every ten seconds. The whole service has a row for each minute
-- and each hour (`partner_id` empty); a partner's calls, and a webhook's attempts, one for each five minutes and each hour, if there were any.
-- So a thousand partners that call and a thousand webhooks that receive without a pause make 576,000 rows a day, of which the fine ones, twelve
-- of thirteen, go after a week; all nodes together update 4,000 of them in ten seconds.
CREATE TABLE figures (
  -- Minutes that a row stands for.
  grain      smallint NOT NULL,
  -- Where they begin.
  at         timestamptz NOT NULL,
  -- oldest: how long the oldest of what was undelivered had waited, in milliseconds, at the worst moment.
  kind       text NOT NULL CHECK (kind IN ('call', 'delivery', 'oldest')),
  partner_id text NOT NULL,
  -- Of a delivery; else empty.
  webhook_id text NOT NULL,
  -- What each place counts: src/domain/oversight/figures.ts.
  counts     bigint[] NOT NULL,
  PRIMARY KEY (partner_id, grain, at, kind, webhook_id)
) WITH (fillfactor = 50);
CREATE INDEX figures_of_webhook ON figures (webhook_id, grain, at) WHERE webhook_id <> '';
CREATE INDEX figures_by_age ON figures (grain, at);

-- ---- Nodes ----

-- The processes of the service. Each writes its row every 15 seconds, and takes it away when it stops.
CREATE TABLE nodes (
  id                    text PRIMARY KEY,
  name                  text NOT NULL,
  version               text NOT NULL,
  role                  text NOT NULL,
  started_at            timestamptz NOT NULL,
  -- By the clock of the database.
  seen_at               timestamptz NOT NULL,
  clock_skew_ms         integer NOT NULL,
  calls_per_minute      double precision NOT NULL,
  deliveries_per_minute double precision NOT NULL
) WITH (fillfactor = 50);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY '{figures, nodes}'::text[] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
END $$;

-- ---- Search ----

-- What is found by a part of its name is some thousands of rows, and read through. Keys and submission types are many, and found as a whole.
CREATE INDEX api_keys_by_ending ON api_keys (last_four);
CREATE INDEX submission_types_by_id ON submission_types (id);
