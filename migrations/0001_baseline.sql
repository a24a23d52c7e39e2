-- The schema, from top to bottom: the tables by noun, and who sees which rows at the end. Migrations make and change tables, nothing else;
-- the functions have their text in src/sql. A migration that was released is never edited.
--
-- The service writes every moment from its own clock, but for the rate windows that nodes share.
--
-- A tenant's table is keyed by its practice group first: a row cannot even be named without saying whose it is.

-- ---- The cell ----

-- A deployment may have several databases, cells, each with its own practice groups. A group can then be moved with its rows as they are,
-- because each cell gives numbers from ranges of its own: events and refused requests from `no << 40` on, webhooks from
-- `no << 24`, the audit from `no << 40` with an origin of its own. Positions in the feed only rise for each group, so the cell
-- that takes one over goes on above them; nobody may rely on there being no gaps. See src/sql/become_cell.sql.
CREATE TABLE cell (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  no      smallint NOT NULL DEFAULT 0 CHECK (no BETWEEN 0 AND 127)
);
INSERT INTO cell DEFAULT VALUES;

-- ---- Practice groups and what they have set up ----

CREATE TABLE practice_groups (
  id            text PRIMARY KEY,
  name          text NOT NULL,
  ods_code      text,
  timezone      text NOT NULL,
  address       jsonb,
  opening_hours jsonb NOT NULL,
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL
);

-- Whether the connection to the EHR of a practice group is up; no row: nobody has said yet. Apart from the group, because it changes
-- often and groups are to be replicated to every cell.
CREATE TABLE ehr_health (
  practice_group_id text PRIMARY KEY REFERENCES practice_groups,
  status            text NOT NULL CHECK (status IN ('healthy', 'unhealthy')),
  changed_at        timestamptz NOT NULL
);

CREATE TABLE networks (
  id         text PRIMARY KEY,
  name       text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

CREATE TABLE network_members (
  network_id        text NOT NULL REFERENCES networks ON DELETE CASCADE,
  practice_group_id text NOT NULL REFERENCES practice_groups,
  PRIMARY KEY (network_id, practice_group_id)
);
CREATE INDEX network_members_by_group ON network_members (practice_group_id, network_id);

CREATE TABLE forms (
  practice_group_id text NOT NULL REFERENCES practice_groups,
  id                text NOT NULL,
  title             text NOT NULL,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, id)
);

CREATE TABLE assignees (
  practice_group_id text NOT NULL REFERENCES practice_groups,
  type              text NOT NULL CHECK (type IN ('Admin', 'AdminTeam')),
  id                text NOT NULL,
  name              text NOT NULL,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, type, id)
);

-- As types instead of checks: PostgreSQL reads a check from its text anew for every statement, and the three of this table took a tenth
-- of the time of a lone update.
CREATE TYPE request_type AS ENUM ('admin_request', 'clinical_request', 'other_request');
CREATE TYPE priority AS ENUM ('lowest', 'low', 'medium', 'high', 'highest');
CREATE TYPE assignee_type AS ENUM ('Admin', 'AdminTeam');

CREATE TABLE submission_types (
  practice_group_id         text NOT NULL REFERENCES practice_groups,
  id                        text NOT NULL,
  pathway_id                text NOT NULL,
  form_id                   text,
  title                     text NOT NULL,
  description               text,
  in_hours                  boolean NOT NULL,
  out_of_hours              boolean NOT NULL,
  suspended                 boolean NOT NULL,
  external_url              text,
  external_url_name         text,
  type                      request_type,
  default_priority          priority NOT NULL,
  daily_limit               integer,
  patient_eligibility_check boolean NOT NULL,
  assignee_id               text,
  assignee_type             assignee_type,
  "order"                   integer,
  -- Counts the changes: the ETag, and what optimistic locking compares.
  version                   integer NOT NULL DEFAULT 1,
  created_at                timestamptz NOT NULL,
  updated_at                timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, id)
) WITH (fillfactor = 70); -- room in each page, so that an update finds place beside the old version and touches no index

CREATE TABLE form_submissions (
  practice_group_id  text NOT NULL,
  id                 text NOT NULL,
  submission_type_id text NOT NULL,
  local_day          date NOT NULL,
  submitted_at       timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, id),
  FOREIGN KEY (practice_group_id, submission_type_id) REFERENCES submission_types
);

-- How many forms a submission type took on a day of its practice's calendar. Kept beside the rows, in the same transaction, because the cap
-- of a busy type is up to 100,000 a day and every read of the type tells the count.
CREATE TABLE form_counts (
  practice_group_id  text NOT NULL,
  submission_type_id text NOT NULL,
  local_day          date NOT NULL,
  submitted          integer NOT NULL,
  PRIMARY KEY (practice_group_id, submission_type_id, local_day),
  FOREIGN KEY (practice_group_id, submission_type_id) REFERENCES submission_types
) WITH (fillfactor = 70);

CREATE TABLE write_to_record_jobs (
  practice_group_id text NOT NULL REFERENCES practice_groups,
  id                text NOT NULL,
  resource          text NOT NULL,
  resource_id       text NOT NULL,
  status            text NOT NULL CHECK (status IN ('queued', 'succeeded', 'failed')),
  failed_attempts   integer NOT NULL DEFAULT 0,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, id)
);
-- The operator's systems name a job by its ID alone.
CREATE UNIQUE INDEX write_to_record_jobs_by_id ON write_to_record_jobs (id);
-- Those to be looked after: few among all that succeeded and are kept.
CREATE INDEX write_to_record_jobs_open ON write_to_record_jobs (status, id) WHERE status <> 'succeeded';

-- ---- Partners, keys, operators ----

CREATE TABLE partners (
  id                    text PRIMARY KEY,
  name                  text NOT NULL,
  contact_email         text NOT NULL,
  status                text NOT NULL CHECK (status IN ('applied', 'agreement_signed', 'verified', 'suspended')),
  agreement_signed_at   timestamptz,
  rate_limit_per_minute integer,
  sla                   text,
  created_at            timestamptz NOT NULL,
  updated_at            timestamptz NOT NULL
);

CREATE TABLE api_keys (
  id                    text PRIMARY KEY,
  partner_id            text NOT NULL REFERENCES partners,
  practice_group_id     text NOT NULL REFERENCES practice_groups,
  key_hash              bytea NOT NULL UNIQUE,
  prefix                text NOT NULL,
  last_four             text NOT NULL,
  scopes                text[] NOT NULL,
  rate_limit_per_minute integer,
  expires_at            timestamptz,
  revoked_at            timestamptz,
  replaced_by           text REFERENCES api_keys DEFERRABLE INITIALLY DEFERRED,
  created_at            timestamptz NOT NULL
);
CREATE INDEX api_keys_by_partner ON api_keys (partner_id, id);
CREATE INDEX api_keys_by_group ON api_keys (practice_group_id, id);

CREATE TABLE operators (
  id         text PRIMARY KEY,
  name       text NOT NULL,
  role       text NOT NULL CHECK (role IN ('admin', 'support', 'source', 'viewer')),
  token_hash bytea NOT NULL UNIQUE,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz
);

-- What a call with an Idempotency-Key was answered. `caller_id` is the operator or the partner, so keys of two callers never meet.
CREATE TABLE idempotency_keys (
  caller_id  text NOT NULL,
  key        text NOT NULL,
  body_hash  bytea NOT NULL,
  answer     jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (caller_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- Calls of partners that were refused. They are written behind the answers, so an index more is in nobody's way. `no` gives each its place
-- in the lists of operators. The list of all goes along `no + 0`, which no other condition fits: else PostgreSQL would rather go through all
-- from the end when it takes a rare partner for one of two.
CREATE TABLE refused_requests (
  no                bigint GENERATED ALWAYS AS IDENTITY,
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
CREATE INDEX refused_requests_in_order ON refused_requests ((no + 0));
CREATE INDEX refused_requests_by_id ON refused_requests (partner_id, request_id, at);
CREATE INDEX refused_requests_by_age ON refused_requests (at);
CREATE INDEX refused_requests_by_request ON refused_requests (request_id, no);
CREATE INDEX refused_requests_by_partner ON refused_requests (partner_id, no);
CREATE INDEX refused_requests_by_group ON refused_requests (practice_group_id, no) WHERE practice_group_id IS NOT NULL;

-- The rate windows of keys when several nodes answer calls. Not logged: a crash of PostgreSQL loses the memory of one minute.
CREATE UNLOGGED TABLE rate_windows (
  key_id text PRIMARY KEY,
  -- How many calls were ever let through, and the newest moment that anybody asked at, in microseconds. The row is the window's lock.
  total  bigint NOT NULL,
  at_us  bigint NOT NULL
) WITH (fillfactor = 50);

-- One row for the calls of a key that were let through together: when, and how many there had been with them. How many lie between two
-- moments is a difference of two rows, however many there are.
CREATE UNLOGGED TABLE rate_moments (
  key_id text NOT NULL,
  total  bigint NOT NULL,
  at_us  bigint NOT NULL,
  PRIMARY KEY (key_id, total)
);
CREATE INDEX rate_moments_by_time ON rate_moments (key_id, at_us, total);

-- ---- Audit ----

-- `body` is the exact text that was hashed; the columns beside it repeat parts of it for searching, and verification compares them too. Each
-- hash covers the one before; audit_head holds the last, so the tail cannot be cut off either. A moved group's history stays behind.
CREATE TABLE audit_entries (
  seq               bigint PRIMARY KEY,
  at                timestamptz NOT NULL,
  actor_id          text NOT NULL,
  action            text NOT NULL,
  subject_id        text NOT NULL,
  practice_group_id text,
  body              text NOT NULL,
  hash              bytea NOT NULL
);
-- Every update pays for an index more on this table: with two more, for actors and subjects, one run of the bench saw 12,000 updates a second
-- instead of 16,400. So who did what is searched within a practice or a stretch of time (found by halving `seq`), else newest first.
CREATE INDEX audit_entries_by_group ON audit_entries (practice_group_id, seq) WHERE practice_group_id IS NOT NULL;
CREATE TRIGGER audit_entries_are_final BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_are_kept BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE TABLE audit_head (
  is_head  boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  seq      bigint NOT NULL,
  hash     bytea NOT NULL,
  -- The latest time of any entry, and by how much any was behind the latest before it: entries carry the times of the nodes that wrote them.
  latest   timestamptz NOT NULL DEFAULT '1970-01-01T00:00:00Z',
  disorder interval NOT NULL DEFAULT '0'
) WITH (fillfactor = 10);
INSERT INTO audit_head (seq, hash) VALUES (0, sha256('porter'));

-- ---- Events and their feed ----

-- What happened: the transactional outbox. A row is the acceptance of an event and commits together with its cause; `payload` is the exact
-- text that receivers get. An event is written once: what is still to be fanned out, and its place in the feed, are rows of their own.
CREATE TABLE events (
  no                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id                text NOT NULL UNIQUE,
  practice_group_id text NOT NULL,
  event             text NOT NULL,
  object_id         text NOT NULL,
  -- Events about one object reach a webhook in order. Two objects that share a hash wait for each other needlessly, which happens
  -- once in a lifetime and harms nobody.
  object_hash       bigint NOT NULL,
  payload           text NOT NULL,
  source            text NOT NULL,
  accepted_at       timestamptz NOT NULL,
  -- Test events: one goes to this webhook alone and not into the feed, or to this partner alone.
  only_webhook_no   integer,
  only_partner_id   text
);

-- Still to be fanned out: in each row, up to a hundred events of one practice group that were accepted together.
CREATE TABLE new_events (
  practice_group_id text NOT NULL,
  -- The lowest of them.
  first_no          bigint NOT NULL,
  event_nos         bigint[] NOT NULL,
  accepted_at       timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, first_no)
);

-- The places of events in the feed, given when they are fanned out, one after the other: a reader who goes on from a position misses
-- nothing. `events.no` cannot serve for that, because rows commit in another order than they are numbered.
CREATE TABLE feed (
  event_no          bigint PRIMARY KEY,
  practice_group_id text NOT NULL,
  position          bigint NOT NULL,
  event             text NOT NULL,
  only_partner_id   text
);
CREATE INDEX feed_of_group ON feed (practice_group_id, position);

CREATE TABLE feed_head (
  is_head    boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  position   bigint NOT NULL,
  -- The practice group that had its turn last in fan-out.
  last_group text NOT NULL DEFAULT ''
) WITH (fillfactor = 10);
INSERT INTO feed_head (position) VALUES (0);

-- ---- Webhooks ----

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

-- ---- Deliveries ----

-- The queue of a webhook and how it is doing: written with every batch of results, so kept apart from what its owner configures. Its row is
-- the lock between those who put deliveries into the queue and those who take them out; whoever locks several does so in the order
-- of their numbers. A worker leases the whole lane.
CREATE TABLE webhook_lanes (
  webhook_no      integer PRIMARY KEY REFERENCES webhooks ON DELETE CASCADE,
  last_sequence   bigint NOT NULL DEFAULT 0,
  -- Failed attempts since the last success, and when the first of them was.
  failures        integer NOT NULL DEFAULT 0,
  failing_since   timestamptz,
  last_success_at timestamptz,
  -- The lease: the worker that sends to this webhook, and until when it may.
  holder          bigint,
  held_until      timestamptz,
  -- No delivery before it is new. Only the holder moves it, for it knows what it has under way.
  open_from       bigint NOT NULL DEFAULT 1,
  -- A column of its own, so that its index changes when this does, not with every delivery.
  has_new         boolean GENERATED ALWAYS AS (open_from <= last_sequence) STORED
) WITH (fillfactor = 30);

-- One event on its way to one webhook. Its name is (webhook, sequence), and `webhook-id` is made of both.
--   new         state due, retry_at null: never attempted; found by its place in the lane, from `open_from` on
--   set aside   retry_at not null: to be tried again then, or at `infinity` if it waits for an earlier one about the same object
--               (state waiting)
--   finished    state delivered or failed, retry_at null
-- That one is being sent is not written to it, because the holder of the lane knows: a lease on each row took 36 µs a delivery, reading
-- takes 6. Most succeed at the first attempt; they are in two indexes from the beginning, and finishing one touches none (a heap-only update).
CREATE TABLE deliveries (
  webhook_no  integer NOT NULL,
  sequence    bigint NOT NULL,
  event_no    bigint NOT NULL,
  object_hash bigint NOT NULL,
  state       text NOT NULL CHECK (state IN ('waiting', 'due', 'delivered', 'failed')),
  retry_at    timestamptz,
  -- Attempts that count towards giving up; a replay starts again from none.
  tries       smallint NOT NULL DEFAULT 0,
  -- Every attempt as partners see it (contract/attempts.ts): one write instead of two. Not jsonb: to build the binary form took a third
  -- of the time of recording a result.
  attempts    json NOT NULL DEFAULT '[]',
  created_at  timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (webhook_no, sequence)
) WITH (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05,
  -- The result of an attempt makes a row twice as long, and both versions must find room on one page.
  fillfactor = 30
);
CREATE UNIQUE INDEX deliveries_by_event ON deliveries (event_no, webhook_no);

-- Plans of the functions are pinned, so that they do not change while a queue runs full: statistics from a quiet time make plans look cheap that
-- read a whole queue (30 events beside 3,000 webhooks once read 4.7 million rows). What keeps a statement on its way:
--   greatest(webhook_no, 0), least(webhook_no, 2147483647)
--              The same as webhook_no, but another expression. What was set aside is few, and so are lanes with something new: their indexes
--              are made on it, and conditions that mean them are written with it, so that no other index fits. (`webhook_no + 0` would
--              not do: row-level security lets only what cannot fail into an index condition, and an addition could overflow.)
--   OFFSET 0   A sub-query with it is done for each row of what stands before it, by its own index; it is merged into nothing.
--   ctid, ANY  A table to be written is not joined by its key: its rows are found first and written where they lie, which the lock on the
--              lane keeps from changing, or they are named in a list; `width_bucket` tells a place in a sorted one.
CREATE INDEX deliveries_set_aside ON deliveries ((greatest(webhook_no, 0)), retry_at, sequence) WHERE retry_at IS NOT NULL;
CREATE INDEX deliveries_set_aside_by_object ON deliveries ((greatest(webhook_no, 0)), object_hash, sequence) WHERE retry_at IS NOT NULL;
-- For the age of the queue: the first of a lane, without reading the others.
CREATE INDEX deliveries_set_aside_in_order ON deliveries ((least(webhook_no, 2147483647)), sequence) WHERE retry_at IS NOT NULL;
CREATE INDEX webhook_lanes_with_new ON webhook_lanes ((greatest(webhook_no, 0))) WHERE has_new;
CREATE INDEX webhook_lanes_held ON webhook_lanes (holder) WHERE holder IS NOT NULL;

-- ---- Who sees which rows ----

-- Row-level security, the second lock on each tenant's door. Every transaction says for whom it acts: `porter.tenant` has the practice groups'
-- IDs, or * for the operator and the service itself; `porter.partner` the partner. A transaction that says nothing sees nothing, and a
-- query that forgets its filter still gets no row of anybody else. The sub-selects make PostgreSQL read a setting once for each query.
-- `cell`, `audit_head`, `schema_migrations` and `sql_functions` hold nothing that belongs to anybody.
DO $$
DECLARE
  of_nobody CONSTANT text[] := '{partners, networks, network_members, api_keys, operators, write_to_record_jobs, feed_head, new_events,
                                 rate_windows, rate_moments}';
  of_groups CONSTANT text[] := '{forms, assignees, submission_types, form_submissions, form_counts, ehr_health}';
  of_webhooks CONSTANT text[] := '{webhook_secrets, webhook_lanes, deliveries}';
  others CONSTANT text[] := '{practice_groups, events, feed, webhooks, refused_requests, idempotency_keys, audit_entries}';
  name text;
BEGIN
  FOREACH name IN ARRAY of_nobody || of_groups || of_webhooks || others LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
  END LOOP;
  FOREACH name IN ARRAY of_nobody LOOP
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
  FOREACH name IN ARRAY of_groups LOOP
    EXECUTE format('CREATE POLICY tenant ON %I USING ((SELECT porter_sees_all())
                      OR practice_group_id = ANY ((SELECT porter_tenants())::text[]))', name);
  END LOOP;
  FOREACH name IN ARRAY of_webhooks LOOP
    EXECUTE format('CREATE POLICY tenant ON %I USING ((SELECT porter_sees_all())
                      OR webhook_no = ANY ((SELECT porter_webhooks())::integer[]))', name);
  END LOOP;
END $$;
CREATE POLICY tenant ON practice_groups USING ((SELECT porter_sees_all()) OR id = ANY ((SELECT porter_tenants())::text[]));
-- An event for one partner alone is seen by that partner alone.
CREATE POLICY tenant ON events USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
  AND (only_partner_id IS NULL OR only_partner_id = (SELECT current_setting('porter.partner', true)))));
CREATE POLICY tenant ON feed USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
  AND (only_partner_id IS NULL OR only_partner_id = (SELECT current_setting('porter.partner', true)))));
-- A partner that tries something out causes an event too.
CREATE POLICY tenant_appends ON new_events FOR INSERT WITH CHECK (practice_group_id = ANY ((SELECT porter_tenants())::text[]));
-- Of two partners of one practice group neither sees the other's.
CREATE POLICY tenant ON webhooks USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
  AND partner_id = (SELECT current_setting('porter.partner', true))));
CREATE POLICY tenant ON refused_requests
  USING ((SELECT porter_sees_all()) OR partner_id = (SELECT current_setting('porter.partner', true)));
CREATE POLICY tenant ON idempotency_keys
  USING ((SELECT porter_sees_all()) OR caller_id = (SELECT current_setting('porter.partner', true)));
CREATE POLICY anybody_appends ON audit_entries FOR INSERT WITH CHECK (true);
CREATE POLICY no_tenant_reads ON audit_entries FOR SELECT USING ((SELECT porter_sees_all()));
