-- Writes what became of deliveries, and returns how their webhooks are doing.
--
-- Guarantees:
-- - A success is written whoever holds the lane, for it was received. Anything else only by the holder of the lane, and only if nobody
--   counted the attempt before (`tries_before`): another worker may be at it.
-- - When a delivery is finished, the next one about the same object is due. As long as one about an object is due, none is woken.
-- - Written again, after an answer that was lost, it changes nothing.
--
-- `states`: delivered; failed: given up; due: to be tried again after `retry_delays_ms`, counted from now (`shared_now`); waiting: not sent, because the one before it about the same
-- object (`afters`, 0: one that was set aside) is not finished. Of several about one object that are put back at once, one at most is due; one
-- that is put back behind others that all wait wakes the first of them, else nobody would. `attempt_texts`: line by line, each a JSON array of one.
-- `lane_nos`, `lows`: for every lane concerned, before which sequence nothing is new once this is written.
-- `stretch_…`: what arrived at the first attempt, if many in a row of one lane: read in one go through the index, where the others are looked
-- up one by one (9 µs a result instead of 15).
-- `woken`: how many deliveries came due, over all lanes. `held`: whether the worker still holds the lane; if not, it must not go on as if all
-- of this had been written.
CREATE OR REPLACE FUNCTION record_results(
  at timestamptz, me bigint,
  webhook_nos integer[], sequences bigint[], tries_before integer[], states text[], retry_delays_ms integer[], afters bigint[], attempt_texts text,
  lane_nos integer[], lows bigint[],
  stretch_nos integer[], stretch_sizes integer[], stretch_sequences bigint[], stretch_texts text
) RETURNS TABLE (webhook_no integer, failures integer, failing_since timestamptz, woken integer, held boolean) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  mine               integer[];
  done_nos           integer[];
  done_hashes        bigint[];
  done_states        text[];
  led_by_none_nos    integer[];
  led_by_none_hashes bigint[];
  woken_count        integer := 0;
  freed_count        integer := 0;
  attempt_of         text[] := string_to_array(stretch_texts, E'\n');
  before             integer := 0;
  stretch            bigint[];
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  at := shared_now(at);
  SELECT array_agg(locked.webhook_no) FILTER (WHERE locked.holder = me) INTO mine
    FROM (SELECT lane.webhook_no, lane.holder FROM webhook_lanes lane
           WHERE lane.webhook_no = ANY (lane_nos) ORDER BY lane.webhook_no FOR NO KEY UPDATE) AS locked;

  IF sequences <> '{}' THEN
    WITH written AS (
      UPDATE deliveries d
         SET state = r.state,
             retry_at = record_results.at + r.retry_delay_ms * interval '1 ms',
             tries = d.tries + 1,
             attempts = CASE WHEN d.attempts::text = '[]' AND r.attempt <> '' THEN r.attempt::json ELSE with_attempt(d.attempts, r.attempt) END,
             finished_at = CASE WHEN r.state <> 'due' THEN record_results.at END
        FROM unnest(webhook_nos, sequences, tries_before, states, retry_delays_ms, string_to_array(attempt_texts, E'\n'))
             AS r (webhook_no, sequence, tries, state, retry_delay_ms, attempt)
       CROSS JOIN LATERAL (SELECT o.ctid FROM deliveries o
                            WHERE o.webhook_no = r.webhook_no AND o.sequence = r.sequence LIMIT 1) AS found
       WHERE r.state <> 'waiting' AND d.ctid = found.ctid AND d.state = 'due'
         AND (r.state = 'delivered' OR (d.tries = r.tries AND r.webhook_no = ANY (mine)))
      RETURNING d.webhook_no, d.object_hash, r.state
    )
    SELECT array_agg(webhook_no), array_agg(object_hash), array_agg(state) INTO done_nos, done_hashes, done_states
      FROM written;
  END IF;

  FOR i IN 1 .. cardinality(stretch_nos) LOOP
    stretch := stretch_sequences[before + 1 : before + stretch_sizes[i]];
    WITH written AS (
      UPDATE deliveries d
         SET state = 'delivered',
             retry_at = NULL,
             tries = d.tries + 1,
             attempts = CASE WHEN d.attempts::text = '[]' THEN attempt_of[before + width_bucket(d.sequence, stretch)]::json
                             ELSE with_attempt(d.attempts, attempt_of[before + width_bucket(d.sequence, stretch)]) END,
             finished_at = record_results.at
       WHERE d.webhook_no = stretch_nos[i] AND d.sequence = ANY (stretch) AND d.state = 'due'
         -- Before 17, PostgreSQL may read the whole lane for the above.
         AND d.sequence BETWEEN stretch[1] AND stretch[stretch_sizes[i]]
      RETURNING d.webhook_no, d.object_hash, d.state
    )
    SELECT done_nos || array_agg(webhook_no), done_hashes || array_agg(object_hash), done_states || array_agg(state)
      INTO done_nos, done_hashes, done_states FROM written;
    before := before + stretch_sizes[i];
  END LOOP;

  -- Each in a statement of its own, so that it sees what the one before it wrote.
  IF 'waiting' = ANY (states) THEN
    WITH judged AS MATERIALIZED (
      SELECT d.id,
             EXISTS (SELECT FROM deliveries o WHERE o.webhook_no = d.webhook_no AND o.sequence = r.after
                        AND o.state = 'due' OFFSET 0) AS is_led,
             row_number() OVER (PARTITION BY d.webhook_no, d.object_hash ORDER BY d.sequence) > 1
               OR EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = d.webhook_no AND o.object_hash = d.object_hash
                             AND o.retry_at IS NOT NULL AND o.sequence < d.sequence OFFSET 0) AS is_behind
        FROM unnest(webhook_nos, sequences, states, afters) AS r (webhook_no, sequence, state, after)
       CROSS JOIN LATERAL (SELECT o.*, o.ctid AS id FROM deliveries o
                            WHERE o.webhook_no = r.webhook_no AND o.sequence = r.sequence LIMIT 1) AS d
       WHERE r.state = 'waiting' AND r.webhook_no = ANY (mine) AND d.state = 'due' AND d.retry_at IS NULL
    ), put_back AS (
      UPDATE deliveries d
         SET state = CASE WHEN is_led OR is_behind THEN 'waiting' ELSE 'due' END,
             retry_at = CASE WHEN is_led OR is_behind THEN 'infinity' ELSE record_results.at END
        FROM judged WHERE d.ctid = judged.id
      RETURNING d.webhook_no, d.object_hash, d.state, is_led
    )
    SELECT count(*) FILTER (WHERE state = 'due'), array_agg(webhook_no) FILTER (WHERE state = 'waiting' AND NOT is_led),
           array_agg(object_hash) FILTER (WHERE state = 'waiting' AND NOT is_led)
      INTO freed_count, led_by_none_nos, led_by_none_hashes FROM put_back;
  END IF;

  -- Most objects have one event at a time. A look whether anything waits at all spares most batches the search.
  IF EXISTS (SELECT FROM deliveries d WHERE greatest(d.webhook_no, 0) = ANY (lane_nos) AND d.retry_at = 'infinity') THEN
    UPDATE deliveries d SET state = 'due', retry_at = record_results.at
      FROM (SELECT no, hash FROM unnest(done_nos, done_hashes, done_states) AS done (no, hash, state) WHERE state <> 'due'
            UNION
            SELECT no, hash FROM unnest(led_by_none_nos, led_by_none_hashes) AS put_back (no, hash)) AS done
     CROSS JOIN LATERAL (
       -- "due" comes before "waiting": as long as one is due, none is woken.
       SELECT o.ctid, o.state FROM deliveries o
        WHERE greatest(o.webhook_no, 0) = done.no AND o.object_hash = done.hash AND o.retry_at IS NOT NULL
        ORDER BY o.state, o.sequence LIMIT 1
     ) AS next
     WHERE next.state = 'waiting' AND d.ctid = next.ctid;
    GET DIAGNOSTICS woken_count = ROW_COUNT;
  END IF;

  RETURN QUERY
  UPDATE webhook_lanes lane
     SET failures = CASE WHEN succeeded THEN 0 ELSE lane.failures + failed END,
         failing_since = CASE WHEN succeeded THEN NULL
                              WHEN failed > 0 THEN coalesce(lane.failing_since, record_results.at)
                              ELSE lane.failing_since END,
         last_success_at = CASE WHEN succeeded THEN record_results.at ELSE lane.last_success_at END,
         open_from = CASE WHEN lane.webhook_no = ANY (mine) THEN greatest(lane.open_from, low) ELSE lane.open_from END
    FROM (SELECT no, max(low) AS low, coalesce(bool_or(state = 'delivered'), false) AS succeeded,
                 (count(*) FILTER (WHERE state <> 'delivered'))::integer AS failed
            FROM (SELECT no, low, NULL AS state FROM unnest(lane_nos, lows) AS known (no, low)
                  UNION ALL
                  SELECT no, NULL, state FROM unnest(done_nos, done_states) AS done (no, state)) AS all_of_them
           GROUP BY no) AS told
   WHERE lane.webhook_no = told.no AND lane.webhook_no = ANY (lane_nos)
  RETURNING lane.webhook_no, lane.failures, lane.failing_since, woken_count + freed_count,
            coalesce(lane.webhook_no = ANY (mine), false);
END $$;
