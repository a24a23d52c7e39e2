-- Retention of what has a time of its own, noun by noun: removes what ended longer ago than the days that are given for each, by the
-- time of `shared_now`, at most `rows_max` rows of a kind with each call, oldest first. Returns how many rows went; zero means that nothing is
-- left to do now.
--
-- Guarantees: a job that is still queued stays. A key goes only when it is over, and after those that it replaced; when it was used last
-- goes with it. Of the access log, src/sql/oversight/clear_access_log.sql. The audit and the erasures are never cleared. One node at a time.
CREATE OR REPLACE FUNCTION clear_records(
  given timestamptz, form_submission_days integer, job_days integer, key_days integer, access_log_days integer, rows_max integer
) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  at                      timestamptz := shared_now(given);
  form_submissions_before timestamptz := at - form_submission_days * interval '24 hours';
  jobs_before             timestamptz := at - job_days * interval '24 hours';
  keys_before             timestamptz := at - key_days * interval '24 hours';
  access_log_before       timestamptz := at - access_log_days * interval '24 hours';
  removed                 integer;
  total                   integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  IF NOT pg_try_advisory_xact_lock(7205759403794) THEN
    RETURN 0;
  END IF;
  DELETE FROM form_submissions f USING (
    SELECT ctid AS id FROM form_submissions WHERE submitted_at < form_submissions_before ORDER BY submitted_at LIMIT rows_max) AS old
   WHERE f.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  -- A day of a practice may end later than one by the calendar of UTC.
  DELETE FROM form_counts c USING (
    SELECT ctid AS id FROM form_counts WHERE local_day < (form_submissions_before - interval '2 days')::date
     ORDER BY local_day LIMIT rows_max) AS old
   WHERE c.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM write_to_record_jobs j USING (
    SELECT ctid AS id FROM write_to_record_jobs WHERE status <> 'queued' AND updated_at < jobs_before
     ORDER BY updated_at LIMIT rows_max) AS old
   WHERE j.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  WITH gone AS (
    DELETE FROM api_keys k USING (
      SELECT ctid AS id FROM api_keys over
       WHERE (revoked_at IS NOT NULL OR expires_at IS NOT NULL) AND least(revoked_at, expires_at) < keys_before
         AND NOT EXISTS (SELECT FROM api_keys older WHERE older.replaced_by = over.id)
       ORDER BY least(revoked_at, expires_at) LIMIT rows_max) AS old
     WHERE k.ctid = old.id RETURNING k.id
  ), used AS (
    DELETE FROM key_uses u USING gone WHERE u.key_id = gone.id
  )
  SELECT count(*) INTO removed FROM gone;
  total := total + removed;
  DELETE FROM network_memberships m USING (
    SELECT ctid AS id FROM network_memberships WHERE left_at < access_log_before ORDER BY left_at LIMIT rows_max) AS old
   WHERE m.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  RETURN total + clear_access_log(access_log_before);
END $$;
