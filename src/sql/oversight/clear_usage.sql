-- Retention of the figures of usage, and of when the service ran: removes days that ended longer than `usage_days` ago, by the time of
-- `shared_now`, at most `rows_max` rows of a table with each call. Returns how many rows went; zero means that nothing is left to do now.
--
-- Guarantees: one node at a time.
CREATE OR REPLACE FUNCTION clear_usage(given timestamptz, usage_days integer, rows_max integer) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  before  date := (shared_now(given) AT TIME ZONE 'UTC')::date - usage_days;
  removed integer;
  total   integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  IF NOT pg_try_advisory_xact_lock(7205759403794) THEN
    RETURN 0;
  END IF;
  DELETE FROM usage u USING (SELECT ctid AS id FROM usage WHERE day < before ORDER BY day LIMIT rows_max) AS old WHERE u.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM usage_times t USING (SELECT ctid AS id FROM usage_times WHERE day < before ORDER BY day LIMIT rows_max) AS old
   WHERE t.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM uptime WHERE day < before;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN total + removed;
END $$;
