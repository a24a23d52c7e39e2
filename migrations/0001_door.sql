-- The door: who may come in, for whom, and what a practice group has set up.
--
-- Every moment is written by the service, from its own clock: the database never asks what time it is.

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

CREATE TABLE practice_groups (
  id            text PRIMARY KEY,
  name          text NOT NULL,
  ods_code      text,
  timezone      text NOT NULL,
  address       jsonb,
  opening_hours jsonb NOT NULL,
  ehr_status    text NOT NULL DEFAULT 'unknown' CHECK (ehr_status IN ('healthy', 'unhealthy', 'unknown')),
  created_at    timestamptz NOT NULL,
  updated_at    timestamptz NOT NULL
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

-- A tenant's table is keyed by its tenant first: a row cannot even be named without saying whose it is.
-- Room is left in each page so that an update finds place beside the old version and touches no index.
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
  type                      text CHECK (type IN ('admin_request', 'clinical_request', 'other_request')),
  default_priority          text NOT NULL CHECK (default_priority IN ('lowest', 'low', 'medium', 'high', 'highest')),
  daily_limit               integer,
  patient_eligibility_check boolean NOT NULL,
  assignee_id               text,
  assignee_type             text CHECK (assignee_type IN ('Admin', 'AdminTeam')),
  "order"                   integer,
  version                   integer NOT NULL DEFAULT 1,
  created_at                timestamptz NOT NULL,
  updated_at                timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, id)
) WITH (fillfactor = 70);

CREATE TABLE form_submissions (
  practice_group_id  text NOT NULL,
  id                 text NOT NULL,
  submission_type_id text NOT NULL,
  local_day          date NOT NULL,
  submitted_at       timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, id),
  FOREIGN KEY (practice_group_id, submission_type_id) REFERENCES submission_types
);

-- How many forms a submission type took on a day of its practice's calendar. Kept beside the rows, in the same
-- transaction, because the cap of a busy type is up to 100,000 a day and every read of the type tells the count.
CREATE TABLE form_counts (
  practice_group_id  text NOT NULL,
  submission_type_id text NOT NULL,
  local_day          date NOT NULL,
  submitted          integer NOT NULL,
  PRIMARY KEY (practice_group_id, submission_type_id, local_day),
  FOREIGN KEY (practice_group_id, submission_type_id) REFERENCES submission_types
) WITH (fillfactor = 70);

-- The audit trail. `body` is the exact text that was hashed; the columns beside it repeat parts of it for searching,
-- and verification compares them too. Each hash covers the one before, so an entry cannot be altered, removed or
-- moved without every later hash disagreeing; audit_head holds the last hash, so the tail cannot be cut off either.
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
-- An index more on this table is paid for by every update: with two more, for actors and subjects, one run of the
-- bench saw 12,000 updates a second instead of 16,400. So who did what is searched within a practice or a stretch of time; without either, newest first.
CREATE INDEX audit_entries_by_group ON audit_entries (practice_group_id, seq) WHERE practice_group_id IS NOT NULL;
CREATE INDEX audit_entries_by_time ON audit_entries USING brin (at);

CREATE TABLE audit_head (
  is_head boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  seq  bigint NOT NULL,
  hash bytea NOT NULL
) WITH (fillfactor = 10);
INSERT INTO audit_head (seq, hash) VALUES (0, sha256('porter'));

-- Appends entries to the chain. Takes the lock on the head, so it comes last in its transaction: the lock is then held
-- for hardly longer than the commit, and since nobody locks anything after it, it cannot be part of a deadlock.
CREATE FUNCTION audit_append(
  at timestamptz, actor_ids text[], actions text[], subject_ids text[], group_ids text[], bodies text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  head   audit_head%ROWTYPE;
  last   bytea;
  hashes bytea[] := '{}';
BEGIN
  SELECT * INTO STRICT head FROM audit_head FOR UPDATE;
  last := head.hash;
  FOR i IN 1 .. cardinality(bodies) LOOP
    last := sha256(last || convert_to((head.seq + i)::text || ':' || bodies[i], 'UTF8'));
    hashes[i] := last;
  END LOOP;
  INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
  SELECT head.seq + n, audit_append.at, actor_id, action, subject_id, group_id, body, hash
    FROM unnest(actor_ids, actions, subject_ids, group_ids, bodies, hashes)
         WITH ORDINALITY AS entry (actor_id, action, subject_id, group_id, body, hash, n);
  UPDATE audit_head SET seq = head.seq + cardinality(bodies), hash = last;
END $$;

-- The same for a single entry, as almost every transaction has one: two statements instead of three, and no arrays.
CREATE FUNCTION audit_append_one(
  at timestamptz, actor_id text, action text, subject_id text, group_id text, body text
) RETURNS void LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  head audit_head%ROWTYPE;
BEGIN
  UPDATE audit_head h
     SET seq = h.seq + 1, hash = sha256(h.hash || convert_to((h.seq + 1)::text || ':' || body, 'UTF8'))
  RETURNING * INTO STRICT head;
  INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
  VALUES (head.seq, audit_append_one.at, audit_append_one.actor_id, audit_append_one.action,
          audit_append_one.subject_id, group_id, audit_append_one.body, head.hash);
END $$;

-- Writes many changed submission types and their audit entries, each row only if it still has the version that the
-- change was decided on, and tells which rows were written with their count of the day. One statement is one
-- transaction: a change costs a single round trip. Whatever was not written is decided again on what is there now.
-- A column that no change touches comes as null and stays as it is: most batches change one or two of the 15.
--
-- The rows come sorted by key, and with the joins pinned they are locked in that order, so two nodes that write the
-- same rows wait for each other instead of deadlocking. The plan is pinned as well: left to itself, PostgreSQL plans this
-- query anew each time (0.51 ms for one row instead of 0.15), and a plan that was made while the table was empty would
-- read all of it later.
CREATE FUNCTION change_submission_types(
  tenant text, at timestamptz,
  group_ids text[], ids text[], old_versions integer[], new_versions integer[], local_days date[],
  form_ids text[], titles text[], descriptions text[], in_hours boolean[], out_of_hours boolean[],
  suspended boolean[], external_urls text[], external_url_names text[], types text[], default_priorities text[],
  daily_limits integer[], patient_eligibility_checks boolean[], assignee_ids text[], assignee_types text[],
  orders integer[],
  entry_rows integer[], actor_ids text[], actions text[], subject_ids text[], entry_group_ids text[], entry_texts text,
  OUT written integer[], OUT submitted integer[]
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  bodies text[] := string_to_array(entry_texts, E'\n');
BEGIN
  PERFORM set_config('porter.tenant', tenant, true);

  WITH changed AS (
    UPDATE submission_types s
       SET form_id = CASE WHEN form_ids IS NULL THEN s.form_id ELSE n.form_id END,
           title = CASE WHEN titles IS NULL THEN s.title ELSE n.title END,
           description = CASE WHEN descriptions IS NULL THEN s.description ELSE n.description END,
           in_hours = CASE WHEN change_submission_types.in_hours IS NULL THEN s.in_hours ELSE n.in_hours END,
           out_of_hours = CASE WHEN change_submission_types.out_of_hours IS NULL THEN s.out_of_hours ELSE n.out_of_hours END,
           suspended = CASE WHEN change_submission_types.suspended IS NULL THEN s.suspended ELSE n.suspended END,
           external_url = CASE WHEN external_urls IS NULL THEN s.external_url ELSE n.external_url END,
           external_url_name = CASE WHEN external_url_names IS NULL THEN s.external_url_name ELSE n.external_url_name END,
           type = CASE WHEN types IS NULL THEN s.type ELSE n.type END,
           default_priority = CASE WHEN default_priorities IS NULL THEN s.default_priority ELSE n.default_priority END,
           daily_limit = CASE WHEN daily_limits IS NULL THEN s.daily_limit ELSE n.daily_limit END,
           patient_eligibility_check = CASE WHEN patient_eligibility_checks IS NULL THEN s.patient_eligibility_check ELSE n.patient_eligibility_check END,
           assignee_id = CASE WHEN assignee_ids IS NULL THEN s.assignee_id ELSE n.assignee_id END,
           assignee_type = CASE WHEN assignee_types IS NULL THEN s.assignee_type ELSE n.assignee_type END,
           "order" = CASE WHEN orders IS NULL THEN s."order" ELSE n."order" END,
           version = n.new_version, updated_at = change_submission_types.at
      FROM unnest(group_ids, ids, old_versions, new_versions, local_days, form_ids, titles, descriptions,
                  change_submission_types.in_hours, change_submission_types.out_of_hours,
                  change_submission_types.suspended, external_urls, external_url_names, types, default_priorities,
                  daily_limits, patient_eligibility_checks, assignee_ids, assignee_types, orders)
           WITH ORDINALITY AS n (practice_group_id, id, old_version, new_version, local_day, form_id, title,
                  description, in_hours, out_of_hours, suspended, external_url, external_url_name, type,
                  default_priority, daily_limit, patient_eligibility_check, assignee_id, assignee_type, "order", row)
     WHERE s.practice_group_id = n.practice_group_id AND s.id = n.id AND s.version = n.old_version
    RETURNING n.row::integer, n.local_day, s.practice_group_id, s.id)
  SELECT array_agg(changed.row), array_agg(coalesce(c.submitted, 0)) INTO written, submitted
    FROM changed
    LEFT JOIN form_counts c ON c.practice_group_id = changed.practice_group_id
     AND c.submission_type_id = changed.id AND c.local_day = changed.local_day;

  IF cardinality(written) = cardinality(ids) THEN
    PERFORM audit_append(change_submission_types.at, actor_ids, actions, subject_ids, entry_group_ids, bodies);
  ELSIF written IS NOT NULL THEN
    PERFORM audit_append(change_submission_types.at,
              array_agg(actor_id ORDER BY n), array_agg(action ORDER BY n), array_agg(subject_id ORDER BY n),
              array_agg(group_id ORDER BY n), array_agg(body ORDER BY n))
       FROM unnest(entry_rows, actor_ids, actions, subject_ids, entry_group_ids, bodies)
            WITH ORDINALITY AS entry (row, actor_id, action, subject_id, group_id, body, n)
      WHERE row = ANY (written);
  END IF;
END $$;

-- The same for one row and one entry: a lone caller is not made to pay for unpacking arrays (measured in turns: about 0.6 of the time).
-- Null when the row no longer has the version that the change was decided on.
CREATE FUNCTION change_submission_type(
  tenant text, at timestamptz, group_id text, type_id text, old_version integer, new_version integer, day date,
  form_id text, title text, description text, in_hours boolean, out_of_hours boolean, suspended boolean,
  external_url text, external_url_name text, type text, default_priority text, daily_limit integer,
  patient_eligibility_check boolean, assignee_id text, assignee_type text, "order" integer,
  actor_id text, action text, body text
) RETURNS integer LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_variable
DECLARE
  taken integer;
BEGIN
  PERFORM set_config('porter.tenant', tenant, true);
  UPDATE submission_types s
     SET form_id = form_id, title = title, description = description, in_hours = in_hours,
         out_of_hours = out_of_hours, suspended = suspended, external_url = external_url,
         external_url_name = external_url_name, type = type, default_priority = default_priority,
         daily_limit = daily_limit, patient_eligibility_check = patient_eligibility_check,
         assignee_id = assignee_id, assignee_type = assignee_type, "order" = "order",
         version = new_version, updated_at = at
   WHERE s.practice_group_id = group_id AND s.id = type_id AND s.version = old_version
  RETURNING coalesce((SELECT c.submitted FROM form_counts c
                       WHERE c.practice_group_id = group_id AND c.submission_type_id = type_id AND c.local_day = day), 0)
    INTO taken;
  IF taken IS NOT NULL THEN
    PERFORM audit_append_one(at, actor_id, action, type_id, group_id, body);
  END IF;
  RETURN taken;
END $$;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit entries are never changed or removed';
END $$;
CREATE TRIGGER audit_entries_are_final BEFORE UPDATE OR DELETE ON audit_entries
  FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER audit_entries_are_kept BEFORE TRUNCATE ON audit_entries
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The second lock on each tenant's door. Every transaction says for whom it acts in `porter.tenant`: the practice
-- groups' IDs separated by commas, or * for the operator and the service itself. A transaction that says nothing sees
-- nothing, and a query that forgets its filter still gets no row of anybody else.
-- The sub-select makes PostgreSQL read the setting once for each query, not once for each row.
CREATE FUNCTION porter_tenants() RETURNS text[] LANGUAGE sql STABLE AS
  $$ SELECT string_to_array(current_setting('porter.tenant', true), ',') $$;
CREATE FUNCTION porter_sees_all() RETURNS boolean LANGUAGE sql STABLE AS
  $$ SELECT coalesce(current_setting('porter.tenant', true) = '*', false) $$;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['forms', 'assignees', 'submission_types', 'form_submissions', 'form_counts'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY tenant ON %I USING ((SELECT porter_sees_all())
                    OR practice_group_id = ANY ((SELECT porter_tenants())::text[]))', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['partners', 'networks', 'network_members', 'api_keys', 'operators'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
END $$;

ALTER TABLE practice_groups ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON practice_groups
  USING ((SELECT porter_sees_all()) OR id = ANY ((SELECT porter_tenants())::text[]));

ALTER TABLE audit_entries ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY anybody_appends ON audit_entries FOR INSERT WITH CHECK (true);
CREATE POLICY no_tenant_reads ON audit_entries FOR SELECT USING ((SELECT porter_sees_all()));
