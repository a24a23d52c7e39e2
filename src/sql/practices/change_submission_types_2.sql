-- Writes changed submission types with their audit entries, as one transaction and in one round trip.
--
-- One row for each place of `group_lines`, `id_lines` (a line each), `versions` (the one that the change was decided on: optimistic
-- locking), `new_versions` and `local_days`, sorted by key. The list of a column has the new value for each row; null: the column stays as
-- it is in all of them. The audit entries are said line by line: of which row, by whom, and the text.
--
-- Guarantees: a row is written only if it still has its version, and its entries are appended if and only if it was. The same transaction says
-- that they are to be placed in the feed of changes (src/sql/delivery/fan_out_to_operators.sql). Rows are locked in the
-- order of their keys, so two nodes that write the same rows wait for each other instead of deadlocking. Returns the places of the rows that
-- were written, the first is 1, with their count of the day; the others must be decided again on what is there now. A row that is to point to
-- another form or assignee is written only if that is still there, and it stays until the transaction ends. Nothing is written of a practice group
-- whose software is asked first, except what it was asked (`porter.change_id`, store/practices/write-through.ts): not by a node that has not
-- heard of it yet, nor by one of the version before, which does not ask. All of it fails then, with PW001.
--
-- Lists and lines instead of rows of JSON: 25 µs of the server's processor time a change in batches of 64, where JSON took 30 to 52. One row
-- by itself takes 380 µs, where a function of its own for that took 295.
CREATE OR REPLACE FUNCTION change_submission_types_2(
  tenant text, at timestamptz,
  group_lines text, id_lines text, versions integer[], new_versions integer[], local_days date[],
  form_id text[], title text[], description text[], in_hours boolean[], out_of_hours boolean[], suspended boolean[], external_url text[],
  external_url_name text[], type text[], default_priority text[], daily_limit integer[], patient_eligibility_check boolean[],
  assignee_id text[], assignee_type text[], "order" double precision[],
  entry_rows integer[], actor_lines text, entry_lines text,
  OUT written integer[], OUT submitted integer[]
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
  group_ids text[] := string_to_array(group_lines, E'\n');
  ids       text[] := string_to_array(id_lines, E'\n');
  actor_ids text[] := string_to_array(actor_lines, E'\n');
  bodies    text[] := string_to_array(entry_lines, E'\n');
BEGIN
  IF coalesce(current_setting('porter.change_id', true), '') = '' THEN
    PERFORM set_config('porter.tenant', '*', true);
    IF EXISTS (SELECT FROM write_through WHERE practice_group_id = ANY (group_ids)) THEN
      RAISE EXCEPTION 'the practice software is asked before this is changed' USING ERRCODE = 'PW001';
    END IF;
  END IF;
  PERFORM set_config('porter.tenant', tenant, true);
  -- Whoever removes one of them has it locked while it looks for those who point to it.
  IF form_id IS NOT NULL THEN
    PERFORM FROM generate_series(1, cardinality(ids)) AS n (row) JOIN forms f ON f.practice_group_id = group_ids[n.row] AND f.id = form_id[n.row]
        FOR KEY SHARE OF f;
  END IF;
  IF assignee_id IS NOT NULL OR assignee_type IS NOT NULL THEN
    PERFORM FROM generate_series(1, cardinality(ids)) AS n (row)
       JOIN submission_types s ON s.practice_group_id = group_ids[n.row] AND s.id = ids[n.row]
       JOIN assignees a ON a.practice_group_id = s.practice_group_id
        AND a.type = CASE WHEN assignee_type IS NULL THEN s.assignee_type::text ELSE assignee_type[n.row] END
        AND a.id = CASE WHEN assignee_id IS NULL THEN s.assignee_id ELSE assignee_id[n.row] END
        FOR KEY SHARE OF a;
  END IF;

  WITH changed AS (
    UPDATE submission_types s
       SET form_id = CASE WHEN form_id IS NULL THEN s.form_id ELSE form_id[n.row] END,
           title = CASE WHEN title IS NULL THEN s.title ELSE title[n.row] END,
           description = CASE WHEN description IS NULL THEN s.description ELSE description[n.row] END,
           in_hours = CASE WHEN in_hours IS NULL THEN s.in_hours ELSE in_hours[n.row] END,
           out_of_hours = CASE WHEN out_of_hours IS NULL THEN s.out_of_hours ELSE out_of_hours[n.row] END,
           suspended = CASE WHEN suspended IS NULL THEN s.suspended ELSE suspended[n.row] END,
           external_url = CASE WHEN external_url IS NULL THEN s.external_url ELSE external_url[n.row] END,
           external_url_name = CASE WHEN external_url_name IS NULL THEN s.external_url_name ELSE external_url_name[n.row] END,
           type = CASE WHEN type IS NULL THEN s.type ELSE type[n.row]::request_type END,
           default_priority = CASE WHEN default_priority IS NULL THEN s.default_priority ELSE default_priority[n.row]::priority END,
           daily_limit = CASE WHEN daily_limit IS NULL THEN s.daily_limit ELSE daily_limit[n.row] END,
           patient_eligibility_check = CASE WHEN patient_eligibility_check IS NULL THEN s.patient_eligibility_check ELSE patient_eligibility_check[n.row] END,
           assignee_id = CASE WHEN assignee_id IS NULL THEN s.assignee_id ELSE assignee_id[n.row] END,
           assignee_type = CASE WHEN assignee_type IS NULL THEN s.assignee_type ELSE assignee_type[n.row]::assignee_type END,
           "order" = CASE WHEN "order" IS NULL THEN s."order" ELSE "order"[n.row] END,
           version = new_versions[n.row], updated_at = at
      FROM generate_series(1, cardinality(ids)) AS n (row)
     WHERE s.practice_group_id = group_ids[n.row] AND s.id = ids[n.row] AND s.version = versions[n.row]
       AND (form_id IS NULL OR form_id[n.row] IS NULL OR form_id[n.row] = s.form_id
         OR EXISTS (SELECT FROM forms f WHERE f.practice_group_id = s.practice_group_id AND f.id = form_id[n.row]))
       AND (assignee_id IS NULL AND assignee_type IS NULL
         OR (CASE WHEN assignee_id IS NULL THEN s.assignee_id ELSE assignee_id[n.row] END) IS NULL
         OR EXISTS (SELECT FROM assignees a WHERE a.practice_group_id = s.practice_group_id
                       AND a.type = CASE WHEN assignee_type IS NULL THEN s.assignee_type::text ELSE assignee_type[n.row] END
                       AND a.id = CASE WHEN assignee_id IS NULL THEN s.assignee_id ELSE assignee_id[n.row] END))
    RETURNING n.row)
  SELECT array_agg(changed.row), array_agg(coalesce(c.submitted, 0)) INTO written, submitted
    FROM changed
    LEFT JOIN form_counts c ON c.practice_group_id = group_ids[changed.row]
     AND c.submission_type_id = ids[changed.row] AND c.local_day = local_days[changed.row];

  IF written IS NULL THEN
    RETURN;
  END IF;
  IF cardinality(written) < cardinality(ids) THEN
    SELECT array_agg(entry.of ORDER BY n), array_agg(entry.actor_id ORDER BY n), array_agg(entry.body ORDER BY n)
      INTO entry_rows, actor_ids, bodies
      FROM unnest(entry_rows, actor_ids, bodies) WITH ORDINALITY AS entry (of, actor_id, body, n)
     WHERE entry.of = ANY (written);
  END IF;
  PERFORM audit_append(at, actor_ids, array_fill('submission_type.update'::text, ARRAY[cardinality(bodies)]),
            ARRAY(SELECT ids[entry.of] FROM unnest(entry_rows) AS entry (of)),
            ARRAY(SELECT group_ids[entry.of] FROM unnest(entry_rows) AS entry (of)), bodies);
  -- One row, however many changes. It waits for nobody, so the audit may come before it.
  INSERT INTO new_changes (first_seq, last_seq, change_id)
  SELECT seq - cardinality(bodies) + 1, seq, nullif(current_setting('porter.change_id', true), '') FROM audit_head;
END $$;
