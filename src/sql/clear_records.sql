-- Retention of what has a time of its own, noun by noun: removes what ended before the moment that is given for each, at most `rows_max` rows
-- of a kind with each call, oldest first. Returns how many rows went; zero means that nothing is left to do now.
--
-- Guarantees: a job that is still queued stays. A key goes only when it is over, and after those that it replaced. Batches of the access
-- log go from the front, with all of their entries; the head keeps the hash of the last that went, so the rest stays verifiable.
-- The audit and the erasures are never cleared. One node at a time.
CREATE OR REPLACE FUNCTION clear_records(
  form_submissions_before timestamptz, jobs_before timestamptz, keys_before timestamptz, access_log_before timestamptz, rows_max integer
) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  last_batch bigint;
  removed    integer;
  total      integer := 0;
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
  DELETE FROM api_keys k USING (
    SELECT ctid AS id FROM api_keys over
     WHERE (revoked_at IS NOT NULL OR expires_at IS NOT NULL) AND least(revoked_at, expires_at) < keys_before
       AND NOT EXISTS (SELECT FROM api_keys older WHERE older.replaced_by = over.id)
     ORDER BY least(revoked_at, expires_at) LIMIT rows_max) AS old
   WHERE k.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM network_memberships WHERE left_at < access_log_before;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;

  SELECT max(first.no) INTO last_batch
    FROM (SELECT b.no, bool_and(b.at < access_log_before) OVER (ORDER BY b.no) AS is_old
            FROM (SELECT no, at FROM access_log_batches ORDER BY no LIMIT 20) AS b) AS first
   WHERE first.is_old;
  IF last_batch IS NOT NULL THEN
    UPDATE access_log_head SET cleared = last_batch, cleared_hash = (SELECT hash FROM access_log_batches WHERE no = last_batch);
    DELETE FROM access_log WHERE no < (SELECT first_no + entries FROM access_log_batches WHERE no = last_batch);
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
    DELETE FROM access_log_batches WHERE no <= last_batch;
  END IF;
  RETURN total;
END $$;
