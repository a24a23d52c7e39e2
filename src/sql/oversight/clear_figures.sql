-- Retention of the figures over time, and of nodes that died without a word: removes rows of one partner or webhook that stand for less than an hour
-- after `fine_days`, all others after `kept_days`, by the time of `shared_now`, at most `rows_max` of each with each call. Returns how many
-- rows went; zero means that nothing is left to do now.
--
-- Guarantees: one node at a time.
CREATE OR REPLACE FUNCTION clear_figures(given timestamptz, fine_days integer, kept_days integer, rows_max integer) RETURNS integer
  LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  now     timestamptz := shared_now(given);
  removed integer;
  total   integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  IF NOT pg_try_advisory_xact_lock(7205759403794) THEN
    RETURN 0;
  END IF;
  DELETE FROM figures f USING (SELECT ctid AS id FROM figures WHERE grain = 5 AND at < now - fine_days * interval '1 day'
                                ORDER BY at LIMIT rows_max) AS old WHERE f.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM figures f USING (SELECT ctid AS id FROM figures WHERE grain = 1 AND at < now - kept_days * interval '1 day'
                                ORDER BY at LIMIT rows_max) AS old WHERE f.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM figures f USING (SELECT ctid AS id FROM figures WHERE grain = 60 AND at < now - kept_days * interval '1 day'
                                ORDER BY at LIMIT rows_max) AS old WHERE f.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM nodes WHERE seen_at < now - interval '1 day';
  RETURN total;
END $$;
