-- Does the same as `change_submission_types_2`. Nodes of the version before call it: their `order` is always a whole number.
CREATE OR REPLACE FUNCTION change_submission_types(
  tenant text, at timestamptz,
  group_lines text, id_lines text, versions integer[], new_versions integer[], local_days date[],
  form_id text[], title text[], description text[], in_hours boolean[], out_of_hours boolean[], suspended boolean[], external_url text[],
  external_url_name text[], type text[], default_priority text[], daily_limit integer[], patient_eligibility_check boolean[],
  assignee_id text[], assignee_type text[], "order" integer[],
  entry_rows integer[], actor_lines text, entry_lines text,
  OUT written integer[], OUT submitted integer[]
) LANGUAGE plpgsql
AS $$
#variable_conflict use_variable
BEGIN
  SELECT changed.written, changed.submitted INTO written, submitted FROM change_submission_types_2(
    tenant, at, group_lines, id_lines, versions, new_versions, local_days, form_id, title, description, in_hours, out_of_hours,
    suspended, external_url, external_url_name, type, default_priority, daily_limit, patient_eligibility_check, assignee_id,
    assignee_type, "order", entry_rows, actor_lines, entry_lines) AS changed;
END $$;
