-- Two steps of the delivery engine once more, saying the same, for less work in PostgreSQL. Measured in turns, as processor time of the
-- server for one delivery of 1,000 events to 3 webhooks: to fan out took 13.3 µs instead of 18.9 (15.7 to 12.4 in the better
-- quarter), to record 10.7 instead of 11.2 (the better quarter).

-- As in 0011, but the webhooks and their lanes are read once each and not for every event, and rows go in by the order of the events,
-- which is the order of one index and of each stretch of the other. A hash join between two lists that are read before cannot
-- go astray, however many there are of either; nothing else is left for the planner to choose.
CREATE OR REPLACE FUNCTION enqueue(at timestamptz, event_nos bigint[], webhook_nos integer[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_nestloop = off SET enable_mergejoin = off
AS $$
DECLARE
  nos    integer[];
  lasts  bigint[];
  counts bigint[];
  made   integer;
BEGIN
  SELECT array_agg(lane.webhook_no), array_agg(lane.last_sequence) INTO nos, lasts
    FROM (SELECT webhook_no, last_sequence FROM webhook_lanes WHERE webhook_no = ANY (webhook_nos)
           ORDER BY webhook_no FOR NO KEY UPDATE) AS lane;
  -- A statement of its own, so that it sees what was committed while the lock was waited for.
  WITH hook AS MATERIALIZED (
    -- Those that are deleted are left out below: said here, another index would fit, one with all webhooks in it.
    SELECT no, practice_group_id, partner_id, event_types, deleted_at, lasts[width_bucket(no, nos)] AS last_sequence
      FROM webhooks WHERE no = ANY (nos)
  ), taken AS MATERIALIZED (
    SELECT no, practice_group_id, event, object_hash, only_partner_id, only_webhook_no FROM events WHERE no = ANY (event_nos)
  ), put AS (
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
    SELECT hook.no, last_sequence + row_number() OVER (PARTITION BY hook.no ORDER BY taken.no), taken.no, object_hash, 'due', at
      FROM taken JOIN hook USING (practice_group_id)
     WHERE deleted_at IS NULL
       AND ((event = ANY (event_types) AND (only_partner_id IS NULL OR only_partner_id = partner_id))
         OR only_webhook_no = hook.no)
     ORDER BY taken.no, hook.no
    RETURNING webhook_no
  )
  SELECT array_agg(webhook_no ORDER BY webhook_no), array_agg(count ORDER BY webhook_no), coalesce(sum(count), 0)
    INTO nos, counts, made
    FROM (SELECT webhook_no, count(*) FROM put GROUP BY webhook_no) AS counted;
  UPDATE webhook_lanes SET last_sequence = last_sequence + counts[width_bucket(webhook_no, nos)] WHERE webhook_no = ANY (nos);
  RETURN made;
END $$;

-- As in 0011, with the practices of the events read as they are taken.
CREATE OR REPLACE FUNCTION fan_out(at timestamptz, me bigint, events_max integer, OUT taken integer, OUT made integer) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  event_nos   bigint[];
  group_ids   text[];
  webhook_nos integer[];
  head        bigint;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  made := 0;
  IF NOT pg_try_advisory_xact_lock(7205759403793) THEN
    taken := -1;
    RETURN;
  END IF;
  SELECT array_agg(no), array_agg(practice_group_id) INTO event_nos, group_ids
    FROM (SELECT no, practice_group_id FROM events
           WHERE position IS NULL AND only_webhook_no IS NULL ORDER BY no LIMIT events_max) AS oldest;
  taken := coalesce(cardinality(event_nos), 0);
  IF taken = 0 THEN
    RETURN;
  END IF;
  UPDATE feed_head SET position = position + taken RETURNING position - taken INTO head;
  UPDATE events SET position = head + width_bucket(no, event_nos) WHERE no = ANY (event_nos);

  SELECT array_agg(w.no ORDER BY w.no) INTO webhook_nos
    FROM (SELECT DISTINCT id FROM unnest(group_ids) AS id) AS g
   CROSS JOIN LATERAL (SELECT webhooks.no, partner_id FROM webhooks
                        WHERE practice_group_id = g.id AND deleted_at IS NULL OFFSET 0) AS w
   WHERE may_receive(w.partner_id, g.id, at);
  IF webhook_nos IS NOT NULL THEN
    made := enqueue(at, event_nos, webhook_nos);
  END IF;
  IF made > 0 THEN
    PERFORM pg_notify('porter_queue', me::text);
  END IF;
END $$;

-- The attempts of a delivery and one more, the latest fifty of them.
CREATE FUNCTION attempts_and(kept json, attempt text) RETURNS json LANGUAGE sql IMMUTABLE AS $$
  SELECT (left(CASE WHEN json_array_length(kept) < 50 THEN kept
                    ELSE (SELECT json_agg(value ORDER BY n) FROM json_array_elements(kept) WITH ORDINALITY AS one (value, n)
                           WHERE n > 1) END::text, -1)
          || ',' || substr(attempt, 2))::json
$$;

-- As in 0011. Most batches are letters that arrived at the first attempt, and say no more than which and how: then `tries_before`,
-- `states`, `retry_ats` and `afters` are null.
CREATE OR REPLACE FUNCTION record_results(
  at timestamptz, me bigint, webhook_nos integer[], sequences bigint[], tries_before integer[], states text[],
  retry_ats timestamptz[], afters bigint[], attempt_texts text, lane_nos integer[], lows bigint[]
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
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  SELECT array_agg(locked.webhook_no) FILTER (WHERE locked.holder = me) INTO mine
    FROM (SELECT lane.webhook_no, lane.holder FROM webhook_lanes lane
           WHERE lane.webhook_no = ANY (lane_nos) ORDER BY lane.webhook_no FOR NO KEY UPDATE) AS locked;

  IF states IS NULL THEN
    WITH written AS (
      UPDATE deliveries d
         SET state = 'delivered', retry_at = NULL, tries = d.tries + 1, finished_at = record_results.at,
             attempts = CASE WHEN d.attempts::text = '[]' THEN r.attempt::json ELSE attempts_and(d.attempts, r.attempt) END
        FROM unnest(webhook_nos, sequences, string_to_array(attempt_texts, E'\n')) AS r (webhook_no, sequence, attempt)
       CROSS JOIN LATERAL (SELECT o.ctid FROM deliveries o
                            WHERE o.webhook_no = r.webhook_no AND o.sequence = r.sequence LIMIT 1) AS found
       WHERE d.ctid = found.ctid AND d.state = 'due'
      RETURNING d.webhook_no, d.object_hash
    )
    SELECT array_agg(webhook_no), array_agg(object_hash), array_fill('delivered'::text, ARRAY[count(*)::integer])
      INTO done_nos, done_hashes, done_states FROM written;
  ELSE
    WITH written AS (
      UPDATE deliveries d
         SET state = r.state,
             retry_at = r.retry_at,
             tries = d.tries + 1,
             attempts = CASE WHEN coalesce(r.attempt, '') = '' THEN d.attempts
                             WHEN d.attempts::text = '[]' THEN r.attempt::json
                             ELSE attempts_and(d.attempts, r.attempt) END,
             finished_at = CASE WHEN r.state <> 'due' THEN record_results.at END
        FROM unnest(webhook_nos, sequences, tries_before, states, retry_ats, string_to_array(attempt_texts, E'\n'))
             AS r (webhook_no, sequence, tries, state, retry_at, attempt)
       CROSS JOIN LATERAL (SELECT o.ctid FROM deliveries o
                            WHERE o.webhook_no = r.webhook_no AND o.sequence = r.sequence LIMIT 1) AS found
       WHERE r.state <> 'waiting' AND d.ctid = found.ctid AND d.state = 'due'
         AND (r.state = 'delivered' OR (d.tries = r.tries AND r.webhook_no = ANY (mine)))
      RETURNING d.webhook_no, d.object_hash, r.state
    )
    SELECT array_agg(webhook_no), array_agg(object_hash), array_agg(state) INTO done_nos, done_hashes, done_states
      FROM written;
  END IF;

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
