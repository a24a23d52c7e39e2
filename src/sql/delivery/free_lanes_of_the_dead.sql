-- Frees the lanes of workers that are no more; returns how many. A worker that is alive holds an advisory lock, its number added to `base`,
-- which PostgreSQL lets go of the moment the process dies: nobody has to wait until leases run out. Until when they had the lease stays, for they may
-- have sent what they wrote nothing of (src/sql/events/erase_events_2.sql).
CREATE OR REPLACE FUNCTION free_lanes_of_the_dead(me bigint, base bigint) RETURNS integer LANGUAGE plpgsql
  SET enable_seqscan = off
AS $$
DECLARE
  dead  bigint[];
  freed integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  SELECT array_agg(DISTINCT lane.holder) INTO dead FROM webhook_lanes lane WHERE lane.holder IS NOT NULL AND lane.holder <> me;
  IF dead IS NULL THEN
    RETURN 0;
  END IF;
  SELECT array_agg(holder) INTO dead FROM unnest(dead) AS holder
   WHERE NOT EXISTS (SELECT FROM pg_locks
                      WHERE locktype = 'advisory' AND objsubid = 1
                        AND (classid::bigint << 32) + objid::bigint = base + holder);
  PERFORM FROM webhook_lanes WHERE holder = ANY (dead) ORDER BY webhook_no FOR NO KEY UPDATE;
  UPDATE webhook_lanes SET holder = NULL WHERE holder = ANY (dead);
  GET DIAGNOSTICS freed = ROW_COUNT;
  RETURN freed;
END $$;
