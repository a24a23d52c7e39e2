-- Retention of alerts and of the messages about them: removes alerts that ended longer ago than `alert_days`, and messages that were written longer
-- ago than `notification_days`, by the time of `shared_now`, at most `rows_max` rows of a kind with each call, oldest first. Returns how many rows
-- went; zero means that nothing is left to do now.
--
-- Guarantees: an alert that is open stays, and so does a message that is still to be sent. One node at a time.
CREATE OR REPLACE FUNCTION clear_alerts(given timestamptz, alert_days integer, notification_days integer, rows_max integer)
  RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  at                   timestamptz := shared_now(given);
  alerts_before        timestamptz := at - alert_days * interval '24 hours';
  notifications_before timestamptz := at - notification_days * interval '24 hours';
  removed              integer;
  total                integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  IF NOT pg_try_advisory_xact_lock(7205759403794) THEN
    RETURN 0;
  END IF;
  DELETE FROM alerts a USING (
    SELECT ctid AS id FROM alerts WHERE ended_at < alerts_before ORDER BY ended_at LIMIT rows_max) AS old
   WHERE a.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM notifications n USING (
    SELECT ctid AS id FROM notifications WHERE created_at < notifications_before AND try_at IS NULL ORDER BY created_at LIMIT rows_max) AS old
   WHERE n.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN total + removed;
END $$;
