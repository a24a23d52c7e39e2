-- Who was told what, what was erased, and how long things are kept.

-- ---- Since when a practice group is in a network, and until when it was ----

-- What `network_members` no longer tells: through which network a delivery of last month was allowed. Nothing has to be written with
-- a delivery for that.
CREATE TABLE network_memberships (
  practice_group_id text NOT NULL,
  network_id        text NOT NULL,
  joined_at         timestamptz NOT NULL,
  left_at           timestamptz,
  -- What the network granted meanwhile, and to whom; when that changes, a new row begins. Null: everything, to everybody.
  scopes            text[],
  partner_ids       text[],
  PRIMARY KEY (practice_group_id, network_id, joined_at)
);
CREATE INDEX network_memberships_by_network ON network_memberships (network_id, practice_group_id);
-- Of those from before, the network's age is the best that is known.
INSERT INTO network_memberships
SELECT practice_group_id, network_id, created_at, NULL, scopes, partner_ids FROM network_members JOIN networks ON networks.id = network_id;

-- ---- The access log ----

-- What was read, by whom, and what was received before its deliveries were cleared away. Entries are written in batches behind the
-- answers; calls of one kind within a batch are one entry with a count. `body` is the exact text that was hashed, with a salt, so that
-- its digest tells nothing to whoever has only that; the columns repeat parts of it for searching. An erased entry keeps the digest alone.
CREATE TABLE access_log (
  no                bigint PRIMARY KEY,
  batch             bigint NOT NULL,
  last_at           timestamptz NOT NULL,
  practice_group_id text,
  actor_id          text NOT NULL,
  object_id         text,
  -- Of what was read from the feed: the first and the last position.
  first_position    bigint,
  last_position     bigint,
  body              text NOT NULL,
  digest            bytea NOT NULL,
  -- The erasure that took the identifiers out of the body.
  erased_by         text
);
CREATE INDEX access_log_by_group ON access_log (practice_group_id, no) WHERE practice_group_id IS NOT NULL;
CREATE INDEX access_log_by_object ON access_log (object_id, practice_group_id, no) WHERE object_id IS NOT NULL;
CREATE INDEX access_log_of_feed ON access_log (practice_group_id, last_position) WHERE last_position IS NOT NULL;

-- Each hash covers the one before and the digests of the batch's entries, in their order. Old batches are cleared from the front: the hash
-- of the one before the first that is left stands in the head, so what is left can still be verified.
CREATE TABLE access_log_batches (
  no       bigint PRIMARY KEY,
  at       timestamptz NOT NULL,
  first_no bigint NOT NULL,
  entries  integer NOT NULL,
  hash     bytea NOT NULL
);
CREATE TABLE access_log_head (
  is_head      boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  batch        bigint NOT NULL DEFAULT 0,
  last_no      bigint NOT NULL DEFAULT 0,
  hash         bytea NOT NULL,
  cleared      bigint NOT NULL DEFAULT 0,
  cleared_hash bytea NOT NULL
);
INSERT INTO access_log_head (hash, cleared_hash) VALUES (sha256('porter access log'), sha256('porter access log'));

-- ---- Erasures ----

-- That an object was erased, and what that took; the object's own ID is not in here. `recipients`: who had been told of it, and has to be
-- told of the erasure.
CREATE TABLE erasures (
  id                text PRIMARY KEY,
  practice_group_id text NOT NULL,
  object            text NOT NULL,
  operator_id       text NOT NULL,
  created_at        timestamptz NOT NULL,
  erased            jsonb NOT NULL,
  recipients        jsonb NOT NULL
);
CREATE INDEX erasures_by_group ON erasures (practice_group_id, id);

-- An erased event keeps its place; its payload has the erasure's ID where the object's was.
ALTER TABLE events ADD COLUMN erased_by text;

-- An erasure takes identifiers out of entries of the audit, and says so in an entry of its own. Nothing else changes one.
DROP TRIGGER audit_entries_are_final ON audit_entries;
CREATE TRIGGER audit_entries_are_final BEFORE UPDATE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_all_but_redaction();
CREATE TRIGGER audit_entries_are_not_removed BEFORE DELETE ON audit_entries FOR EACH ROW EXECUTE FUNCTION refuse_change();

-- ---- Retention ----

-- It takes other arguments now.
DROP FUNCTION IF EXISTS clear_old(timestamptz, timestamptz, integer);
DROP FUNCTION IF EXISTS clear_old(timestamptz, integer, integer, integer);
CREATE INDEX form_submissions_by_age ON form_submissions (submitted_at);
CREATE INDEX form_counts_by_age ON form_counts (local_day);
CREATE INDEX write_to_record_jobs_finished_by_age ON write_to_record_jobs (updated_at) WHERE status <> 'queued';
CREATE INDEX api_keys_ended_by_age ON api_keys (least(revoked_at, expires_at)) WHERE revoked_at IS NOT NULL OR expires_at IS NOT NULL;

-- ---- Who sees which rows ----

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY '{network_memberships, access_log, access_log_batches, access_log_head, erasures}'::text[] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
END $$;
-- The service takes identifiers out, and its transaction acts for the operator.
CREATE POLICY erasure_redacts ON audit_entries FOR UPDATE USING ((SELECT porter_sees_all()));
