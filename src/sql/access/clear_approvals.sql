-- Retention of approvals: removes those that were decided, or expired, longer ago than `kept_days`, and the sealed answers that nobody has collected
-- within `answer_hours`, by the time of `shared_now`, at most `rows_max` of each with each call, oldest first. Returns how many rows changed; zero means
-- that nothing is left to do now.
--
-- Guarantees: one that still waits stays. One node at a time.
CREATE OR REPLACE FUNCTION clear_approvals(given timestamptz, kept_days integer, answer_hours integer, rows_max integer)
  RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  at           timestamptz := shared_now(given);
  ended_before timestamptz := at - kept_days * interval '24 hours';
  answered     timestamptz := at - answer_hours * interval '1 hour';
  removed      integer;
  total        integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  IF NOT pg_try_advisory_xact_lock(7205759403794) THEN
    RETURN 0;
  END IF;
  UPDATE approvals a SET answer = NULL, answer_key_id = NULL FROM (
    SELECT ctid AS id FROM approvals WHERE answer IS NOT NULL AND decided_at <= answered ORDER BY decided_at LIMIT rows_max) AS old
   WHERE a.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM approvals a USING (
    SELECT ctid AS id FROM approvals WHERE coalesce(decided_at, expires_at) < ended_before
     ORDER BY coalesce(decided_at, expires_at) LIMIT rows_max) AS old
   WHERE a.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN total + removed;
END $$;
