-- As in 0003, but events get their place in the feed before anything is put into the queues: the lanes, which results wait
-- for, are locked for a third less time.
CREATE OR REPLACE FUNCTION fan_out(at timestamptz, events_max integer, OUT taken integer, OUT made integer) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  event_nos   bigint[];
  webhook_nos integer[];
  head        bigint;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  made := 0;
  IF NOT pg_try_advisory_xact_lock(7205759403793) THEN
    taken := -1;
    RETURN;
  END IF;
  SELECT array_agg(no ORDER BY no) INTO event_nos
    FROM (SELECT no FROM events WHERE position IS NULL AND only_webhook_no IS NULL ORDER BY no LIMIT events_max) AS oldest;
  taken := coalesce(cardinality(event_nos), 0);
  IF taken = 0 THEN
    RETURN;
  END IF;
  UPDATE feed_head SET position = position + taken RETURNING position - taken INTO head;
  UPDATE events e SET position = head + n FROM unnest(event_nos) WITH ORDINALITY AS placed (no, n) WHERE e.no = placed.no;

  SELECT array_agg(w.no ORDER BY w.no) INTO webhook_nos
    FROM (SELECT DISTINCT e.practice_group_id FROM unnest(event_nos) AS taken (no) JOIN events e ON e.no = taken.no) AS g
    JOIN webhooks w ON w.practice_group_id = g.practice_group_id AND w.deleted_at IS NULL
   WHERE may_receive(w.partner_id, w.practice_group_id, at);
  IF webhook_nos IS NOT NULL THEN
    made := enqueue(at, event_nos, webhook_nos);
  END IF;
  IF made > 0 THEN
    PERFORM pg_notify('porter_queue', '');
  END IF;
END $$;
