-- The same as in 0001 and 0004, for less work in PostgreSQL. `unnest` of twenty arrays keeps twenty stores of rows, most of them
-- all null; here one series counts and each array is asked at that position, and only those that came (measured in turns,
-- 64 rows: 2.7 ms of processor time instead of 2.95; 8 rows: 1.07 ms instead of 1.27).
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
  UPDATE audit_head SET seq = head.seq + cardinality(bodies), hash = last;
END $$;

CREATE OR REPLACE FUNCTION change_submission_types(
  tenant text, at timestamptz,
  group_lines text, id_lines text, old_versions integer[], new_versions integer[], local_days date[],
  form_ids text[], titles text[], descriptions text[], in_hours boolean[], out_of_hours boolean[],
  suspended boolean[], external_urls text[], external_url_names text[], types text[], default_priorities text[],
  daily_limits integer[], patient_eligibility_checks boolean[], assignee_ids text[], assignee_types text[],
  orders integer[],
  entry_rows integer[], actor_lines text, entry_texts text,
  OUT complete boolean, OUT written integer[], OUT submitted integer[]
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
  group_ids       text[] := string_to_array(group_lines, E'\n');
  ids             text[] := string_to_array(id_lines, E'\n');
  actor_ids       text[] := string_to_array(actor_lines, E'\n');
  bodies          text[] := string_to_array(entry_texts, E'\n');
  subject_ids     text[] := ids;
  entry_group_ids text[] := group_ids;
  actions         text[] := array_fill('submission_type.update'::text, ARRAY[cardinality(bodies)]);
BEGIN
  PERFORM set_config('porter.tenant', tenant, true);

  WITH changed AS (
    UPDATE submission_types s
       SET form_id = CASE WHEN form_ids IS NULL THEN s.form_id ELSE form_ids[n.row] END,
           title = CASE WHEN titles IS NULL THEN s.title ELSE titles[n.row] END,
           description = CASE WHEN descriptions IS NULL THEN s.description ELSE descriptions[n.row] END,
           in_hours = CASE WHEN in_hours IS NULL THEN s.in_hours ELSE in_hours[n.row] END,
           out_of_hours = CASE WHEN out_of_hours IS NULL THEN s.out_of_hours ELSE out_of_hours[n.row] END,
           suspended = CASE WHEN suspended IS NULL THEN s.suspended ELSE suspended[n.row] END,
           external_url = CASE WHEN external_urls IS NULL THEN s.external_url ELSE external_urls[n.row] END,
           external_url_name = CASE WHEN external_url_names IS NULL THEN s.external_url_name ELSE external_url_names[n.row] END,
           type = CASE WHEN types IS NULL THEN s.type ELSE types[n.row] END,
           default_priority = CASE WHEN default_priorities IS NULL THEN s.default_priority ELSE default_priorities[n.row] END,
           daily_limit = CASE WHEN daily_limits IS NULL THEN s.daily_limit ELSE daily_limits[n.row] END,
           patient_eligibility_check = CASE WHEN patient_eligibility_checks IS NULL THEN s.patient_eligibility_check ELSE patient_eligibility_checks[n.row] END,
           assignee_id = CASE WHEN assignee_ids IS NULL THEN s.assignee_id ELSE assignee_ids[n.row] END,
           assignee_type = CASE WHEN assignee_types IS NULL THEN s.assignee_type ELSE assignee_types[n.row] END,
           "order" = CASE WHEN orders IS NULL THEN s."order" ELSE orders[n.row] END,
           version = new_versions[n.row], updated_at = at
      FROM generate_series(1, cardinality(ids)) AS n (row)
     WHERE s.practice_group_id = group_ids[n.row] AND s.id = ids[n.row] AND s.version = old_versions[n.row]
    RETURNING n.row)
  SELECT array_agg(changed.row), array_agg(coalesce(c.submitted, 0)) INTO written, submitted
    FROM changed
    LEFT JOIN form_counts c ON c.practice_group_id = group_ids[changed.row]
     AND c.submission_type_id = ids[changed.row] AND c.local_day = local_days[changed.row];

  IF written IS NULL THEN
    RETURN;
  END IF;
  IF entry_rows IS NOT NULL THEN
    subject_ids := ARRAY(SELECT ids[entry.row] FROM unnest(entry_rows) AS entry (row));
    entry_group_ids := ARRAY(SELECT group_ids[entry.row] FROM unnest(entry_rows) AS entry (row));
  END IF;
  IF cardinality(written) = cardinality(ids) THEN
    PERFORM audit_append(at, actor_ids, actions, subject_ids, entry_group_ids, bodies);
    complete := 0 = ALL (submitted);
    IF complete THEN
      written := NULL;
      submitted := NULL;
    END IF;
  ELSE
    PERFORM audit_append(at,
              array_agg(entry.actor_id ORDER BY n), array_agg(entry.action ORDER BY n),
              array_agg(entry.subject_id ORDER BY n), array_agg(entry.group_id ORDER BY n),
              array_agg(entry.body ORDER BY n))
       FROM unnest(coalesce(entry_rows, ARRAY(SELECT generate_series(1, cardinality(ids)))),
                   actor_ids, actions, subject_ids, entry_group_ids, bodies)
            WITH ORDINALITY AS entry (row, actor_id, action, subject_id, group_id, body, n)
      WHERE entry.row = ANY (written);
  END IF;
END $$;

-- As in 0001, with audit_append_one written out: a call of a function less, for the one who waits alone.
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
         external_url_name = external_url_name, type = type, default_priority = default_priority,
         daily_limit = daily_limit, patient_eligibility_check = patient_eligibility_check,
         assignee_id = assignee_id, assignee_type = assignee_type, "order" = "order",
         version = new_version, updated_at = at
   WHERE s.practice_group_id = group_id AND s.id = type_id AND s.version = old_version
  RETURNING coalesce((SELECT c.submitted FROM form_counts c
                       WHERE c.practice_group_id = group_id AND c.submission_type_id = type_id AND c.local_day = day), 0)
    INTO taken;
  IF taken IS NOT NULL THEN
    UPDATE audit_head h
       SET seq = h.seq + 1, hash = sha256(h.hash || convert_to((h.seq + 1)::text || ':' || body, 'UTF8'))
    RETURNING * INTO STRICT head;
    INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
    VALUES (head.seq, at, actor_id, action, type_id, group_id, body, head.hash);
  END IF;
  RETURN taken;
END $$;

DROP FUNCTION audit_append_one;
