-- Entries are numbered as they commit, and carry the time of the node that wrote them. A stretch of time is found by halving the
-- numbers, which is right as long as it is known how far the times are out of order. An hour was taken for granted; a node whose
-- clock had been a day ahead made lists by time leave entries out, for good. Now the head of the chain keeps the latest time, and
-- by how much any entry was behind the latest before it.
ALTER TABLE audit_head
  ADD COLUMN latest   timestamptz NOT NULL DEFAULT 'epoch',
  ADD COLUMN disorder interval NOT NULL DEFAULT '0';
UPDATE audit_head SET (latest, disorder) = (
  SELECT coalesce(max(at), 'epoch'), coalesce(max(before - at), '0')
    FROM (SELECT at, max(at) OVER (ORDER BY seq) AS before FROM audit_entries WHERE isfinite(at)) AS entry);

-- As in 0008.
CREATE OR REPLACE FUNCTION audit_append(
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
  SELECT head.seq + n, audit_append.at, actor_ids[n], actions[n], subject_ids[n], group_ids[n], bodies[n], hashes[n]
    FROM generate_series(1, cardinality(bodies)) AS n;
  UPDATE audit_head SET seq = head.seq + cardinality(bodies), hash = last,
         latest = greatest(head.latest, audit_append.at), disorder = greatest(head.disorder, head.latest - audit_append.at);
END $$;

-- As in 0008, with the types of 0010.
CREATE OR REPLACE FUNCTION change_submission_type(
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
  head  audit_head%ROWTYPE;
BEGIN
  tenant := set_config('porter.tenant', tenant, true);
  UPDATE submission_types s
     SET form_id = form_id, title = title, description = description, in_hours = in_hours,
         out_of_hours = out_of_hours, suspended = suspended, external_url = external_url,
         external_url_name = external_url_name, type = type::request_type, default_priority = default_priority::priority,
         daily_limit = daily_limit, patient_eligibility_check = patient_eligibility_check,
         assignee_id = assignee_id, assignee_type = assignee_type::assignee_type, "order" = "order",
         version = new_version, updated_at = at
   WHERE s.practice_group_id = group_id AND s.id = type_id AND s.version = old_version
  RETURNING coalesce((SELECT c.submitted FROM form_counts c
                       WHERE c.practice_group_id = group_id AND c.submission_type_id = type_id AND c.local_day = day), 0)
    INTO taken;
  IF taken IS NOT NULL THEN
    UPDATE audit_head h
       SET seq = h.seq + 1, hash = sha256(h.hash || convert_to((h.seq + 1)::text || ':' || body, 'UTF8')),
           latest = greatest(h.latest, at), disorder = greatest(h.disorder, h.latest - at)
    RETURNING * INTO STRICT head;
    INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
    VALUES (head.seq, at, actor_id, action, type_id, group_id, body, head.hash);
  END IF;
  RETURN taken;
END $$;
