-- Retention of sessions: removes those that were over longer ago than `kept_days`, by the time of `shared_now`, at most `rows_max` with each call,
-- oldest first. Returns how many rows went; zero means that nothing is left to do now.
--
-- Guarantees: a session that can still be used stays. One node at a time.
CREATE OR REPLACE FUNCTION clear_sessions(given timestamptz, kept_days integer, rows_max integer)
  RETURNS integer LANGUAGE plpgsql
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
  DELETE FROM sessions s USING (
    SELECT ctid AS id FROM sessions WHERE least(idle_expires_at, expires_at, revoked_at) < ended_before
     ORDER BY least(idle_expires_at, expires_at, revoked_at) LIMIT rows_max) AS old
   WHERE s.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
