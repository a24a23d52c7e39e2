-- Sends events to one webhook again, or for the first time if it never got them; returns how many that were.
--
-- Guarantees: what is finished begins anew under its old name and sequence, in order with the others about its object; what waits for a retry is
-- due now; what is new and on its way stays so; what is missing is enqueued. An event that is being cleared away is left out, and one that is
-- being replayed is not cleared away (FOR KEY SHARE). One whose object was erased is sent to nobody.
CREATE OR REPLACE FUNCTION replay_deliveries(at timestamptz, webhook integer, event_nos bigint[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  found   integer;
  missing bigint[];
BEGIN
  at := shared_now(at);
  PERFORM FROM webhook_lanes WHERE webhook_no = webhook FOR NO KEY UPDATE;
  event_nos := ARRAY(SELECT wanted.no FROM unnest(event_nos) AS wanted (no)
                      CROSS JOIN LATERAL (SELECT FROM events WHERE events.no = wanted.no AND erased_by IS NULL OFFSET 0) AS kept
                      ORDER BY wanted.no);
  WITH chosen AS (
    SELECT d.id, d.state IN ('delivered', 'failed') AS finished,
           row_number() OVER (PARTITION BY d.object_hash, d.state IN ('delivered', 'failed') ORDER BY d.sequence) > 1
             OR EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = webhook AND o.object_hash = d.object_hash
                           AND o.retry_at IS NOT NULL OFFSET 0) AS behind
      FROM unnest(event_nos) AS wanted (no)
     CROSS JOIN LATERAL (SELECT *, ctid AS id FROM deliveries
                          WHERE deliveries.event_no = wanted.no AND deliveries.webhook_no = webhook OFFSET 0) AS d
  ), restarted AS (
    UPDATE deliveries d
       SET state = CASE WHEN NOT finished THEN d.state WHEN behind THEN 'waiting' ELSE 'due' END,
           retry_at = CASE WHEN d.state = 'waiting' OR (finished AND behind) THEN 'infinity' ELSE at END,
           tries = CASE WHEN finished THEN 0 ELSE d.tries END,
           finished_at = NULL
      FROM chosen
     WHERE d.ctid = chosen.id AND (finished OR d.retry_at IS NOT NULL)
  )
  SELECT count(*) INTO found FROM chosen;

  -- What has no place in the feed yet is still to be fanned out, and comes by itself.
  SELECT array_agg(e.no ORDER BY e.no) INTO missing
    FROM unnest(event_nos) AS wanted (no)
   CROSS JOIN LATERAL (SELECT event_no FROM feed WHERE feed.event_no = wanted.no OFFSET 0) AS placed
   CROSS JOIN LATERAL (SELECT no FROM events WHERE events.no = wanted.no FOR KEY SHARE SKIP LOCKED) AS e
   WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_no = wanted.no AND d.webhook_no = webhook OFFSET 0);
  IF missing IS NOT NULL THEN
    IF EXISTS (SELECT FROM webhooks WHERE no = webhook AND audience = 'operator') THEN
      found := found + enqueue_for_operators(at, missing, ARRAY[webhook]);
    ELSE
      found := found + enqueue(at, missing, ARRAY[webhook]);
    END IF;
  END IF;
  RETURN found;
END $$;
