-- As in 0007, with three differences. It tells whether the worker still holds each lane, for one that does not must not go on
-- as if what it wrote had been written. Of several about one object that are put back at once, one at most is due. And one
-- that is put back behind others that all wait themselves (a replay, when the one under way was taken over) wakes the
-- first of them: else nobody would.
-- Writes what became of deliveries, and tells how their webhooks are doing and how many deliveries it woke. A failure from
-- a worker that no longer holds the lane is not written, for another one is at it; a success is, for it has been received.
-- Nor is one written twice: that is what `tries_before` is for. When an event is finished, the next one about its object is due.
-- `states`: delivered; failed: given up; due: to be tried again at `retry_ats`; waiting: not sent, because the one before it
-- about the same object (`afters`, or one that was set aside) is not finished. `attempt_texts`: line by line, each a JSON array of one.
-- `lows`: for each of `lane_nos`, before which sequence nothing is new once these results are written.
DROP FUNCTION record_results;
CREATE FUNCTION record_results(
  at timestamptz, me bigint, webhook_nos integer[], sequences bigint[], tries_before integer[], states text[],
  retry_ats timestamptz[], afters bigint[], attempt_texts text, lane_nos integer[], lows bigint[]
) RETURNS TABLE (webhook_no integer, failures integer, failing_since timestamptz, woken integer, held boolean) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  mine        integer[];
  done_nos    integer[];
  done_hashes bigint[];
  done_states text[];
  led_by_none_nos    integer[];
  led_by_none_hashes bigint[];
  woken_count integer := 0;
  freed_count integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  SELECT array_agg(locked.webhook_no) FILTER (WHERE locked.holder = me) INTO mine
    FROM (SELECT lane.webhook_no, lane.holder FROM webhook_lanes lane
           WHERE lane.webhook_no = ANY (lane_nos) ORDER BY lane.webhook_no FOR NO KEY UPDATE) AS locked;

  WITH written AS (
    UPDATE deliveries d
       SET state = r.state,
           retry_at = r.retry_at,
           tries = d.tries + 1,
           attempts = CASE WHEN coalesce(r.attempt, '') = '' THEN d.attempts
                           WHEN d.attempts::text = '[]' THEN r.attempt::json
                           ELSE (left((SELECT CASE WHEN json_array_length(d.attempts) < 50 THEN d.attempts
                                                   ELSE (SELECT json_agg(value ORDER BY n) FROM json_array_elements(d.attempts)
                                                           WITH ORDINALITY AS kept (value, n) WHERE n > 1) END)::text, -1)
                                 || ',' || substr(r.attempt, 2))::json END,
           finished_at = CASE WHEN r.state <> 'due' THEN record_results.at END
      FROM unnest(webhook_nos, sequences, tries_before, states, retry_ats, string_to_array(attempt_texts, E'\n'))
           AS r (webhook_no, sequence, tries, state, retry_at, attempt)
     WHERE r.state <> 'waiting' AND d.webhook_no = r.webhook_no AND d.sequence = r.sequence AND d.state = 'due'
       AND (r.state = 'delivered' OR (d.tries = r.tries AND r.webhook_no = ANY (mine)))
    RETURNING d.webhook_no, d.object_hash, r.state
  )
  SELECT array_agg(webhook_no), array_agg(object_hash), array_agg(state) INTO done_nos, done_hashes, done_states
    FROM written;

  -- Each in a statement of its own, so that it sees what the one before it wrote.
  IF 'waiting' = ANY (states) THEN
    WITH judged AS (
      SELECT d.webhook_no, d.sequence,
             EXISTS (SELECT FROM deliveries o WHERE o.webhook_no = d.webhook_no AND o.sequence = r.after
                        AND o.state = 'due') AS is_led,
             row_number() OVER (PARTITION BY d.webhook_no, d.object_hash ORDER BY d.sequence) > 1
               OR EXISTS (SELECT FROM deliveries o WHERE o.webhook_no = d.webhook_no AND o.object_hash = d.object_hash
                             AND o.retry_at IS NOT NULL AND o.sequence < d.sequence) AS is_behind
        FROM unnest(webhook_nos, sequences, states, afters) AS r (webhook_no, sequence, state, after)
        JOIN deliveries d ON d.webhook_no = r.webhook_no AND d.sequence = r.sequence
       WHERE r.state = 'waiting' AND r.webhook_no = ANY (mine) AND d.state = 'due' AND d.retry_at IS NULL
    ), put_back AS (
      UPDATE deliveries d
         SET state = CASE WHEN is_led OR is_behind THEN 'waiting' ELSE 'due' END,
             retry_at = CASE WHEN is_led OR is_behind THEN 'infinity' ELSE record_results.at END
        FROM judged WHERE d.webhook_no = judged.webhook_no AND d.sequence = judged.sequence
      RETURNING d.webhook_no, d.object_hash, d.state, is_led
    )
    SELECT count(*) FILTER (WHERE state = 'due'), array_agg(webhook_no) FILTER (WHERE state = 'waiting' AND NOT is_led),
           array_agg(object_hash) FILTER (WHERE state = 'waiting' AND NOT is_led)
      INTO freed_count, led_by_none_nos, led_by_none_hashes FROM put_back;
  END IF;

  -- Most objects have one event at a time. A look whether anything waits at all spares most batches the search.
  IF EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = ANY (lane_nos) AND d.retry_at = 'infinity') THEN
    UPDATE deliveries d SET state = 'due', retry_at = record_results.at
      FROM (SELECT no, hash FROM unnest(done_nos, done_hashes, done_states) AS done (no, hash, state) WHERE state <> 'due'
            UNION
            SELECT no, hash FROM unnest(led_by_none_nos, led_by_none_hashes) AS put_back (no, hash)) AS done
     CROSS JOIN LATERAL (
       -- "due" comes before "waiting": as long as one is due, none is woken.
       SELECT o.sequence, o.state FROM deliveries o
        WHERE o.webhook_no = done.no AND o.object_hash = done.hash AND o.retry_at IS NOT NULL
        ORDER BY o.state, o.sequence LIMIT 1
     ) AS next
     WHERE next.state = 'waiting' AND d.webhook_no = done.no AND d.sequence = next.sequence;
    GET DIAGNOSTICS woken_count = ROW_COUNT;
  END IF;

  RETURN QUERY
  UPDATE webhook_lanes lane
     SET failures = CASE WHEN succeeded THEN 0 ELSE lane.failures + coalesce(failed, 0) END,
         failing_since = CASE WHEN succeeded THEN NULL
                              WHEN failed > 0 THEN coalesce(lane.failing_since, record_results.at)
                              ELSE lane.failing_since END,
         last_success_at = CASE WHEN succeeded THEN record_results.at ELSE lane.last_success_at END,
         open_from = CASE WHEN lane.webhook_no = ANY (mine) THEN greatest(lane.open_from, low) ELSE lane.open_from END
    FROM unnest(lane_nos, lows) AS known (no, low)
    LEFT JOIN (SELECT no, bool_or(state = 'delivered') AS succeeded,
                      (count(*) FILTER (WHERE state <> 'delivered'))::integer AS failed
                 FROM unnest(done_nos, done_states) AS done (no, state) GROUP BY no) AS told ON told.no = known.no
   WHERE lane.webhook_no = known.no
  RETURNING lane.webhook_no, lane.failures, lane.failing_since, woken_count + freed_count,
            coalesce(lane.webhook_no = ANY (mine), false);
END $$;

-- As in 0007, with the lanes of all that goes locked first, finished or not. A replay of what was finished could begin while
-- this ran: the next one about the object then waited for what this removed, unseen, and nobody woke it.
CREATE OR REPLACE FUNCTION clear_old(before timestamptz, rows_max integer) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  event_nos bigint[];
  removed   integer;
  total     integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  -- One node at a time is enough.
  IF NOT pg_try_advisory_xact_lock(7205759403794) THEN
    RETURN 0;
  END IF;
  SELECT array_agg(no) INTO event_nos
    FROM (SELECT no, accepted_at, position, only_webhook_no FROM events ORDER BY no LIMIT rows_max) AS oldest
   WHERE accepted_at < before AND (position IS NOT NULL OR only_webhook_no IS NOT NULL);
  IF event_nos IS NOT NULL THEN
    -- Of an object's open deliveries one is due. If it goes, the next one takes its place.
    PERFORM FROM webhook_lanes lane
      WHERE lane.webhook_no IN (SELECT d.webhook_no FROM unnest(event_nos) AS gone (no)
                                  JOIN deliveries d ON d.event_no = gone.no)
      ORDER BY lane.webhook_no FOR NO KEY UPDATE;
    WITH gone AS (
      DELETE FROM deliveries d USING unnest(event_nos) AS old (no) WHERE d.event_no = old.no
      RETURNING d.webhook_no, d.object_hash, d.state, d.sequence
    ), freed AS (
      SELECT DISTINCT ON (o.webhook_no, o.object_hash) o.webhook_no, o.sequence
        FROM gone JOIN deliveries o ON o.webhook_no = gone.webhook_no AND o.object_hash = gone.object_hash
         AND o.retry_at IS NOT NULL AND o.state = 'waiting' AND o.event_no <> ALL (event_nos)
       WHERE gone.state = 'due' ORDER BY o.webhook_no, o.object_hash, o.sequence
    ), woken AS (
      UPDATE deliveries d SET state = 'due', retry_at = before FROM freed
       WHERE d.webhook_no = freed.webhook_no AND d.sequence = freed.sequence
    )
    SELECT count(*) INTO total FROM gone;
    DELETE FROM events e USING unnest(event_nos) AS old (no) WHERE e.no = old.no;
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
  END IF;

  DELETE FROM refused_requests r USING (
    SELECT ctid AS id FROM refused_requests WHERE at < before ORDER BY at LIMIT rows_max) AS old WHERE r.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM idempotency_keys k USING (
    SELECT caller_id, key FROM idempotency_keys WHERE created_at < before ORDER BY created_at LIMIT rows_max) AS old
   WHERE k.caller_id = old.caller_id AND k.key = old.key;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;

  -- The deliveries of deleted webhooks, and then the webhooks.
  DELETE FROM deliveries d USING (
    SELECT o.webhook_no, o.sequence FROM webhooks w
     CROSS JOIN LATERAL (SELECT webhook_no, sequence FROM deliveries WHERE webhook_no = w.no LIMIT rows_max) AS o
     WHERE w.deleted_at IS NOT NULL LIMIT rows_max) AS old
   WHERE d.webhook_no = old.webhook_no AND d.sequence = old.sequence;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM webhooks w WHERE deleted_at IS NOT NULL
     AND NOT EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = w.no);
  RETURN total;
END $$;
