-- Writes changed submission types with their audit entries, as one transaction and in one round trip.
--
-- `changes`: an array of {practice_group_id, id, version, local_day, set, entries}. `version` is the one that the change was decided on
-- (optimistic locking), `set` names the columns to write with their new values, `entries` are the audit's texts, one for each change
-- that led there. They come sorted by key.
--
-- Guarantees: a row is written only if it still has that version, and its entries are appended if and only if it was. Rows are locked in
-- the order of their keys, so two nodes that write the same rows wait for each other instead of deadlocking. Returns the places of the changes
-- that were written, the first is 1, with the row's count of `local_day`; the others must be decided again on what is there now.
CREATE OR REPLACE FUNCTION change_submission_types(tenant text, at timestamptz, changes json, OUT written integer[], OUT submitted integer[])
  LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  audit text;
BEGIN
  PERFORM set_config('porter.tenant', tenant, true);
  WITH changed AS (
    UPDATE submission_types s
       SET (form_id, title, description, in_hours, out_of_hours, suspended, external_url, external_url_name, type, default_priority,
            daily_limit, patient_eligibility_check, assignee_id, assignee_type, "order", version, updated_at)
         = (SELECT form_id, title, description, in_hours, out_of_hours, suspended, external_url, external_url_name, type, default_priority,
                   daily_limit, patient_eligibility_check, assignee_id, assignee_type, "order", version, updated_at
              FROM json_populate_record(s, change.set))
      FROM ROWS FROM (json_to_recordset(changes)
             AS (practice_group_id text, id text, version integer, local_day date, set json, entries text))
             WITH ORDINALITY AS change (practice_group_id, id, version, local_day, set, entries, place)
     WHERE s.practice_group_id = change.practice_group_id AND s.id = change.id AND s.version = change.version
    RETURNING change.place, change.entries,
              coalesce((SELECT c.submitted FROM form_counts c WHERE c.practice_group_id = s.practice_group_id
                           AND c.submission_type_id = s.id AND c.local_day = change.local_day), 0) AS count)
  SELECT array_agg(place ORDER BY place), array_agg(count ORDER BY place), string_agg(entries, E'\n' ORDER BY place)
    INTO written, submitted, audit FROM changed;
  IF written IS NOT NULL THEN
    PERFORM audit_append(at, audit);
  END IF;
END $$;
