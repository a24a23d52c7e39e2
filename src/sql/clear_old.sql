-- Retention: removes what is older than `kept_days`, by the time of `shared_now`, at most `rows_max` rows of a kind with each call (of deliveries
-- ten times as many, or those of one event), oldest first, or of events the last that are old if the first must stay, and without a look at the
-- rest. Returns how many rows went; zero means that nothing is left to do now.
--
-- Guarantees: an event goes with its deliveries and its place in the feed, all at once. One that is still on its way to an active webhook stays
-- for `open_kept_days`; what is withheld does not. One that the software of a practice has still to be told, because it was asked first
-- (src/runtime/practices/write-through.ts), stays until it is told. What of it was received within `received_days` is noted in the access log. The lanes are
-- locked first, so a delivery that waited for one that goes is woken, and only then. One node at a time.
CREATE OR REPLACE FUNCTION clear_old(
  given timestamptz, kept_days integer, open_kept_days integer, rows_max integer, received_days integer DEFAULT 0
) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  at             timestamptz := shared_now(given);
  before         timestamptz := at - kept_days * interval '24 hours';
  open_before    timestamptz := at - open_kept_days * interval '24 hours';
  received_since timestamptz := at - received_days * interval '24 hours';
  event_nos      bigint[];
  after_no       bigint := 0;
  low            bigint;
  high           bigint;
  places         tid[];
  removed        integer;
  total          integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  -- One node at a time is enough.
  IF NOT pg_try_advisory_xact_lock(7205759403794) THEN
    RETURN 0;
  END IF;
  -- The oldest, and if none of them may go, the last ones that are old: what stays for a slow webhook keeps nothing else here.
  FOR look IN 1 .. 2 LOOP
    SELECT array_agg(no) FILTER (WHERE may_go) INTO event_nos
      FROM (SELECT no,
                   accepted_at < before AND (only_webhook_no IS NOT NULL OR EXISTS (SELECT FROM feed WHERE event_no = oldest.no OFFSET 0))
                   AND (accepted_at < open_before OR NOT EXISTS (
                     SELECT FROM (SELECT webhook_no FROM deliveries d
                                   WHERE d.event_no = oldest.no AND d.state IN ('due', 'waiting') OFFSET 0) AS open
                      CROSS JOIN LATERAL (SELECT FROM webhooks w WHERE w.no = open.webhook_no AND w.status = 'active'
                                             AND w.withheld_since IS NULL AND w.deleted_at IS NULL OFFSET 0) AS active
                      WHERE NOT EXISTS (SELECT FROM withheld_groups g
                                         WHERE g.webhook_no = open.webhook_no AND g.practice_group_id = oldest.practice_group_id)))
                   AND NOT (only_webhook_no IS NOT NULL
                     AND EXISTS (SELECT FROM write_through t WHERE t.webhook_no = oldest.only_webhook_no OFFSET 0)
                     AND EXISTS (SELECT FROM deliveries d WHERE d.event_no = oldest.no AND d.state <> 'delivered' OFFSET 0)) AS may_go
              FROM (SELECT no, practice_group_id, accepted_at, only_webhook_no FROM events
                     WHERE no > after_no ORDER BY no LIMIT rows_max) AS oldest) AS stretch;
    EXIT WHEN event_nos IS NOT NULL OR look = 2;
    -- Numbers are nearly in the order of time, so where the old ones end is found by halving.
    SELECT min(no), max(no) + 1 INTO low, high FROM events;
    WHILE high - low > greatest(rows_max / 4, 1) LOOP
      IF (SELECT e.accepted_at < before FROM events e WHERE e.no >= low + (high - low) / 2 ORDER BY e.no LIMIT 1) THEN
        low := low + (high - low) / 2;
      ELSE
        high := low + (high - low) / 2;
      END IF;
    END LOOP;
    SELECT no - 1 INTO after_no FROM events e WHERE e.no < high ORDER BY e.no DESC OFFSET rows_max - 1 LIMIT 1;
    EXIT WHEN after_no IS NULL;
  END LOOP;
  -- Not one that a replay is just putting into a queue: that delivery is not to be seen yet, and would be left without its event.
  SELECT array_agg(no) INTO event_nos
    FROM (SELECT no FROM events WHERE no = ANY (event_nos) FOR UPDATE SKIP LOCKED) AS free;
  IF event_nos IS NOT NULL THEN
    -- An event of very many webhooks is taken whole, but then nothing more: their lanes are locked as long as this takes.
    event_nos := ARRAY(
      SELECT DISTINCT no FROM (
        SELECT old.no FROM unnest(event_nos) AS old (no)
          LEFT JOIN LATERAL (SELECT FROM deliveries WHERE event_no = old.no OFFSET 0) AS its ON true
         LIMIT rows_max * 10) AS first_ones);
    -- Of an object's open deliveries one is due. If it goes, the next one takes its place.
    PERFORM FROM webhook_lanes lane
      WHERE lane.webhook_no = ANY (ARRAY(SELECT webhook_no FROM deliveries WHERE event_no = ANY (event_nos)))
      ORDER BY lane.webhook_no FOR NO KEY UPDATE;
    PERFORM note_received(at, received_since, ARRAY(SELECT ctid FROM deliveries WHERE event_no = ANY (event_nos)
                                                              AND attempts::text <> '[]'));
    WITH gone AS (
      DELETE FROM deliveries WHERE event_no = ANY (event_nos) RETURNING webhook_no, object_hash, state
    ), freed AS (
      SELECT DISTINCT next.id
        FROM gone CROSS JOIN LATERAL (
          SELECT o.ctid AS id, o.sequence FROM deliveries o
           WHERE greatest(o.webhook_no, 0) = gone.webhook_no AND o.object_hash = gone.object_hash
             AND o.retry_at IS NOT NULL AND o.state = 'waiting' AND o.event_no <> ALL (event_nos)
           ORDER BY o.sequence LIMIT 1) AS next
       WHERE gone.state = 'due'
         -- As long as an earlier one is due, set aside or new, none is woken: what went need not be what it waits for.
         AND NOT EXISTS (SELECT FROM deliveries o
                          WHERE greatest(o.webhook_no, 0) = gone.webhook_no AND o.object_hash = gone.object_hash
                            AND o.retry_at IS NOT NULL AND o.sequence < next.sequence AND o.state = 'due'
                            AND o.event_no <> ALL (event_nos) OFFSET 0)
         AND NOT EXISTS (SELECT FROM deliveries o
                          WHERE o.webhook_no = gone.webhook_no AND o.object_hash = gone.object_hash
                            AND o.sequence >= (SELECT open_from FROM webhook_lanes l WHERE l.webhook_no = gone.webhook_no)
                            AND o.sequence < next.sequence AND o.retry_at IS NULL AND o.state = 'due'
                            AND o.event_no <> ALL (event_nos) ORDER BY o.sequence OFFSET 0)
    ), woken AS (
      UPDATE deliveries d SET state = 'due', retry_at = before FROM freed WHERE d.ctid = freed.id
    )
    SELECT count(*) INTO total FROM gone;
    -- Nothing is withheld of a group any more if the last of it went.
    DELETE FROM withheld_groups g
     WHERE NOT EXISTS (SELECT FROM (SELECT event_no FROM deliveries d
                                     WHERE greatest(d.webhook_no, 0) = g.webhook_no AND d.retry_at = 'infinity' OFFSET 0) AS aside
                        CROSS JOIN LATERAL (SELECT FROM events e
                                             WHERE e.no = aside.event_no AND e.practice_group_id = g.practice_group_id OFFSET 0) AS of_it);
    DELETE FROM feed WHERE event_no = ANY (event_nos);
    DELETE FROM events WHERE no = ANY (event_nos);
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
  END IF;

  DELETE FROM refused_requests r USING (
    SELECT ctid AS id FROM refused_requests o WHERE o.at < before ORDER BY o.at LIMIT rows_max) AS old WHERE r.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM idempotency_keys k USING (
    SELECT ctid AS id FROM idempotency_keys WHERE created_at < before ORDER BY created_at LIMIT rows_max) AS old
   WHERE k.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;

  DELETE FROM idempotency_keys k USING (
    SELECT ctid AS id FROM idempotency_keys WHERE expires_at <= at ORDER BY expires_at LIMIT rows_max) AS old
   WHERE k.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;

  -- The deliveries of deleted webhooks, and then the webhooks.
  places := ARRAY(
    SELECT o.id FROM webhooks w
     CROSS JOIN LATERAL (SELECT ctid AS id FROM deliveries WHERE webhook_no = w.no ORDER BY sequence LIMIT rows_max) AS o
     WHERE w.deleted_at IS NOT NULL LIMIT rows_max);
  PERFORM note_received(at, received_since, places);
  DELETE FROM deliveries d WHERE d.ctid = ANY (places);
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM webhooks w WHERE deleted_at IS NOT NULL
     AND NOT EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = w.no ORDER BY d.sequence OFFSET 0);
  RETURN total;
END $$;
