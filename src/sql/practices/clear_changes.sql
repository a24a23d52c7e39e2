-- Retention of changes: removes those that were applied or rejected longer than `kept_days` ago, by the time of `shared_now`, at most `rows_max`
-- with each call, oldest first. Returns how many went; zero means that nothing is left to do now.
--
-- Guarantees: a change that is pending stays, however old. One node at a time.
CREATE OR REPLACE FUNCTION clear_changes(given timestamptz, kept_days integer, rows_max integer) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  ended_before timestamptz := shared_now(given) - kept_days * interval '24 hours';
  removed      integer;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  IF NOT pg_try_advisory_xact_lock(7205759403794) THEN
    RETURN 0;
  END IF;
  DELETE FROM changes WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM changes WHERE ended_at < ended_before ORDER BY ended_at LIMIT rows_max));
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
