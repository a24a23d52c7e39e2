-- The post: what happened, who wants to hear of it, and how far each letter has come.
-- What is done with these tables is told in src/delivery/engine.ts, and step by step in 0003.

-- What happened. A row here is the acceptance of an event: it commits together with its cause. `payload` is the exact
-- text that receivers get. `position` is the event's place in the feed, given when it is fanned out, one after the
-- other, so that a reader who goes on from a position misses nothing; `no` cannot serve for that, because rows commit
-- in another order than they are numbered.
CREATE TABLE events (
  no                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id                text NOT NULL UNIQUE,
  practice_group_id text NOT NULL,
  event             text NOT NULL,
  object_id         text NOT NULL,
  -- Events about one object reach a webhook in order. Two objects that share a hash wait for each other needlessly,
  -- which happens once in a lifetime and harms nobody.
  object_hash       bigint NOT NULL,
  payload           text NOT NULL,
  source_id         text NOT NULL,
  accepted_at       timestamptz NOT NULL,
  position          bigint,
  -- A test event goes to this webhook alone, and not into the feed.
  only_webhook_no   integer
);
CREATE INDEX events_new ON events (no) WHERE position IS NULL AND only_webhook_no IS NULL;
CREATE INDEX events_in_feed ON events (practice_group_id, position) WHERE position IS NOT NULL;

CREATE TABLE feed_head (
  is_head  boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  position bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO feed_head (position) VALUES (0);

-- What a call with an Idempotency-Key was answered. `caller_id` is the operator's, so keys of two callers never meet.
CREATE TABLE idempotency_keys (
  caller_id  text NOT NULL,
  key        text NOT NULL,
  body_hash  bytea NOT NULL,
  answer     jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (caller_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE write_to_record_jobs (
  id                text PRIMARY KEY,
  practice_group_id text NOT NULL REFERENCES practice_groups,
  resource          text NOT NULL,
  resource_id       text NOT NULL,
  status            text NOT NULL CHECK (status IN ('queued', 'succeeded', 'failed')),
  failed_attempts   integer NOT NULL DEFAULT 0,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL
);
CREATE INDEX write_to_record_jobs_by_group ON write_to_record_jobs (practice_group_id, id);

CREATE TABLE webhooks (
  no                integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id                text NOT NULL UNIQUE,
  partner_id        text NOT NULL REFERENCES partners,
  practice_group_id text NOT NULL REFERENCES practice_groups,
  url               text NOT NULL,
  description       text,
  event_types       text[] NOT NULL,
  -- Deliveries to a webhook that is paused (by its owner) or disabled (by the service) queue up and wait.
  status            text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  -- Why it is disabled, in words for people.
  status_reason     text,
  -- Grows with every change, of the secrets too: what a worker remembers of a webhook is good for one version.
  version           integer NOT NULL DEFAULT 1,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  -- Deleted for everybody who asks; its deliveries are cleared away little by little, and then the row.
  deleted_at        timestamptz
);
CREATE INDEX webhooks_by_group ON webhooks (practice_group_id, partner_id, id) WHERE deleted_at IS NULL;

CREATE TABLE webhook_secrets (
  webhook_no integer NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  no         integer GENERATED ALWAYS AS IDENTITY,
  -- AES-256-GCM under the master key with this ID.
  sealed     bytea NOT NULL,
  key_id     text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Null for the newest; one that was rotated out still signs until then.
  expires_at timestamptz,
  PRIMARY KEY (webhook_no, no)
);

-- How a webhook is doing: written with every batch of results, so kept apart from what its owner configures. Its row
-- is also the lock between those who put deliveries into the queue of a webhook and those who take them out. Whoever
-- takes several takes them in the order of their numbers.
CREATE TABLE webhook_lanes (
  webhook_no      integer PRIMARY KEY REFERENCES webhooks ON DELETE CASCADE,
  last_sequence   bigint NOT NULL DEFAULT 0,
  -- Failed attempts since the last success, and when the first of them was.
  failures        integer NOT NULL DEFAULT 0,
  failing_since   timestamptz,
  last_success_at timestamptz,
  -- The worker that sends to this webhook, and until when it may. If it dies, the lane is free again at that time.
  holder          bigint,
  held_until      timestamptz
) WITH (fillfactor = 30);
CREATE INDEX webhook_lanes_held ON webhook_lanes (holder) WHERE holder IS NOT NULL;

-- One event on its way to one webhook. Its name is (webhook, sequence), and `webhook-id` is made of both.
--   waiting    an earlier event about the same object is not finished yet
--   due        to be sent at due_at, by whoever holds the webhook's lane
--   delivered, failed   finished
-- That one is being sent is not written to it: a worker leases the whole lane and knows what it has under way. A lease
-- on each row was one more version of each and took 36 µs a delivery, reading takes 6.
CREATE TABLE deliveries (
  webhook_no  integer NOT NULL,
  sequence    bigint NOT NULL,
  event_no    bigint NOT NULL,
  object_hash bigint NOT NULL,
  state       text NOT NULL CHECK (state IN ('waiting', 'due', 'delivered', 'failed')),
  due_at      timestamptz NOT NULL,
  -- Attempts that count towards giving up; a replay starts again from none.
  tries       smallint NOT NULL DEFAULT 0,
  -- Every attempt as partners see it (contract/attempts.ts): one write instead of two, and nothing to clear away apart.
  attempts    jsonb NOT NULL DEFAULT '[]',
  created_at  timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (webhook_no, sequence)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE UNIQUE INDEX deliveries_by_event ON deliveries (event_no, webhook_no);
CREATE INDEX deliveries_due ON deliveries (webhook_no, due_at, sequence) WHERE state = 'due';
CREATE INDEX deliveries_waiting ON deliveries (webhook_no) WHERE state = 'waiting';
CREATE INDEX deliveries_open ON deliveries (webhook_no, object_hash, sequence) WHERE state IN ('waiting', 'due');

-- Calls of partners that were refused, for `GET /v1/requests/{request_id}`.
CREATE TABLE refused_requests (
  partner_id        text NOT NULL,
  request_id        text NOT NULL,
  at                timestamptz NOT NULL,
  key_id            text NOT NULL,
  practice_group_id text,
  method            text NOT NULL,
  path              text NOT NULL,
  operation         text NOT NULL,
  status            smallint NOT NULL,
  body              text NOT NULL
);
CREATE INDEX refused_requests_by_id ON refused_requests (partner_id, request_id, at);
CREATE INDEX refused_requests_by_age ON refused_requests (at);

-- The second lock on each tenant's door, as in 0001. Webhooks belong to a partner too: of two partners of one practice
-- group neither sees the other's. `porter.partner` names the partner.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['events', 'webhooks', 'webhook_secrets', 'webhook_lanes', 'deliveries',
                              'write_to_record_jobs', 'idempotency_keys', 'refused_requests', 'feed_head'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['write_to_record_jobs', 'idempotency_keys', 'feed_head'] LOOP
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['webhook_secrets', 'webhook_lanes', 'deliveries'] LOOP
    EXECUTE format('CREATE POLICY tenant ON %I USING ((SELECT porter_sees_all())
                    OR EXISTS (SELECT FROM webhooks w WHERE w.no = %I.webhook_no))', name, name);
  END LOOP;
END $$;

CREATE POLICY tenant ON events
  USING ((SELECT porter_sees_all()) OR practice_group_id = ANY ((SELECT porter_tenants())::text[]));
CREATE POLICY tenant ON webhooks
  USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
         AND partner_id = (SELECT current_setting('porter.partner', true))));
CREATE POLICY tenant ON refused_requests
  USING ((SELECT porter_sees_all()) OR partner_id = (SELECT current_setting('porter.partner', true)));
