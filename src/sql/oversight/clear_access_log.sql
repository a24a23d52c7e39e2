-- Removes the batches of the access log from before a moment, at most 20 with each call. Returns how many entries went.
--
-- Guarantees: batches go from the front, with all of their entries; the head keeps the hash of the last that went, so the rest stays
-- verifiable. With the rights of its owner: the login of the service only reads the log, and takes nothing else out of it.
CREATE OR REPLACE FUNCTION clear_access_log(before timestamptz) RETURNS integer LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
  last_batch bigint;
  removed    integer;
BEGIN
  SELECT max(first.no) INTO last_batch
    FROM (SELECT b.no, bool_and(b.at < before) OVER (ORDER BY b.no) AS is_old
            FROM (SELECT no, at FROM access_log_batches ORDER BY no LIMIT 20) AS b) AS first
   WHERE first.is_old;
  IF last_batch IS NULL THEN
    RETURN 0;
  END IF;
  UPDATE access_log_head SET cleared = last_batch, cleared_hash = (SELECT hash FROM access_log_batches WHERE no = last_batch);
  DELETE FROM access_log WHERE no < (SELECT first_no + entries FROM access_log_batches WHERE no = last_batch);
  GET DIAGNOSTICS removed = ROW_COUNT;
  DELETE FROM access_log_batches WHERE no <= last_batch;
  RETURN removed;
END $$;
REVOKE EXECUTE ON FUNCTION clear_access_log FROM PUBLIC;
