-- Retention of invitations: removes those that were withdrawn, used, given up, or expired longer ago than `kept_days`, by the time of `shared_now`, at
-- most `rows_max` with each call, oldest first. Returns how many rows went; zero means that nothing is left to do now.
--
-- Guarantees: one that is still to be sent, that can still be used, or with whose session somebody was here within `kept_days`, stays. One node at a time.
CREATE OR REPLACE FUNCTION clear_invitations(given timestamptz, kept_days integer, rows_max integer)
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
  DELETE FROM invitations i USING (
    SELECT ctid AS id FROM invitations over
     WHERE try_at IS NULL AND greatest(created_at, expires_at, entered_at, revoked_at) < ended_before
       AND NOT EXISTS (SELECT FROM sessions s WHERE s.invitation_id = over.id)
     ORDER BY greatest(created_at, expires_at, entered_at, revoked_at) LIMIT rows_max) AS old
   WHERE i.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
