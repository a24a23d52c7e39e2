-- The steps of the delivery engine once more, saying the same, with plans that cannot go astray. They are pinned, so that they do
-- not change while a queue runs full. But which one is pinned depended on how large PostgreSQL took the tables to be, and what
-- was small when the plan was made, or when statistics were last taken, it read as a whole: fan-out asked every webhook
-- there is whether its partner may hear of a practice (30 events beside 3,000 webhooks read 4.7 million rows), and 300 results
-- beside 1,000 waiting letters read 3 million. What keeps it on the way, here and from now on:
--
--   OFFSET 0      A sub-query with it is not merged into the one around it, nor is EXISTS turned into a join or a list of the
--                 whole table: it is done for each row of what stands before it, by its own index.
--   greatest(webhook_no, 0)
--                 The same as webhook_no, but another expression. What was set aside is few, and so are lanes with something
--                 new: their indexes are made on it, and conditions that mean them are written with it, so that no other index
--                 fits, least of all one that holds everything. Where that alone does not decide it, an order does that only
--                 this index has, with sorting switched off. (`webhook_no + 0` would not do: row-level security lets only
--                 what cannot tell of other rows into an index condition, and an addition could overflow.)
--   ctid, = ANY   A table to be written is not joined by its key. Its rows are found first and written where they lie, which the
--                 lock on the lane keeps from changing, or they are named in a list; `width_bucket` tells a place in a sorted one.
DROP INDEX deliveries_set_aside;
DROP INDEX deliveries_set_aside_by_object;
DROP INDEX webhook_lanes_with_new;
CREATE INDEX deliveries_set_aside ON deliveries ((greatest(webhook_no, 0)), retry_at, sequence) WHERE retry_at IS NOT NULL;
CREATE INDEX deliveries_set_aside_by_object ON deliveries ((greatest(webhook_no, 0)), object_hash, sequence) WHERE retry_at IS NOT NULL;
CREATE INDEX webhook_lanes_with_new ON webhook_lanes ((greatest(webhook_no, 0))) WHERE has_new;

-- As in 0003.
CREATE OR REPLACE FUNCTION may_receive(partner text, group_id text, at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM partners WHERE id = partner AND status = 'verified')
     AND (EXISTS (SELECT FROM api_keys k
                   WHERE k.practice_group_id = group_id AND k.partner_id = partner
                     AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at))
       OR EXISTS (SELECT FROM network_members mine
                   CROSS JOIN LATERAL (SELECT m.practice_group_id FROM network_members m
                                        WHERE m.network_id = mine.network_id OFFSET 0) AS theirs
                   CROSS JOIN LATERAL (SELECT FROM api_keys k
                                        WHERE k.practice_group_id = theirs.practice_group_id AND k.partner_id = partner
                                          AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at)
                                       OFFSET 0) AS alive
                   WHERE mine.practice_group_id = group_id))
$$;

-- As in 0007.
CREATE OR REPLACE FUNCTION enqueue(at timestamptz, event_nos bigint[], webhook_nos integer[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  nos    integer[];
  counts bigint[];
  made   integer;
BEGIN
  PERFORM FROM webhook_lanes WHERE webhook_no = ANY (webhook_nos) ORDER BY webhook_no FOR NO KEY UPDATE;
  -- A statement of its own, so that it sees what was committed while the lock was waited for.
  WITH put AS (
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
    SELECT w.no, lane.last_sequence + row_number() OVER (PARTITION BY w.no ORDER BY e.no), e.no, e.object_hash, 'due', at
      FROM unnest(event_nos) AS taken (no)
     CROSS JOIN LATERAL (SELECT * FROM events WHERE events.no = taken.no OFFSET 0) AS e
     CROSS JOIN LATERAL (SELECT * FROM webhooks
                          WHERE webhooks.practice_group_id = e.practice_group_id AND deleted_at IS NULL OFFSET 0) AS w
     CROSS JOIN LATERAL (SELECT last_sequence FROM webhook_lanes WHERE webhook_no = w.no OFFSET 0) AS lane
     WHERE w.no = ANY (webhook_nos)
       AND ((e.event = ANY (w.event_types) AND (e.only_partner_id IS NULL OR e.only_partner_id = w.partner_id))
         OR e.only_webhook_no = w.no)
    RETURNING webhook_no
  )
  SELECT array_agg(webhook_no ORDER BY webhook_no), array_agg(count ORDER BY webhook_no), coalesce(sum(count), 0)
    INTO nos, counts, made
    FROM (SELECT webhook_no, count(*) FROM put GROUP BY webhook_no) AS counted;
  UPDATE webhook_lanes SET last_sequence = last_sequence + counts[width_bucket(webhook_no, nos)] WHERE webhook_no = ANY (nos);
  RETURN made;
END $$;

-- As in 0009, and it tells the workers which of them did it.
DROP FUNCTION fan_out;
CREATE FUNCTION fan_out(at timestamptz, me bigint, events_max integer, OUT taken integer, OUT made integer) LANGUAGE plpgsql
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
  UPDATE events SET position = head + width_bucket(no, event_nos) WHERE no = ANY (event_nos);

  SELECT array_agg(w.no ORDER BY w.no) INTO webhook_nos
    FROM (SELECT DISTINCT e.practice_group_id AS id FROM unnest(event_nos) AS taken (no)
           CROSS JOIN LATERAL (SELECT practice_group_id FROM events WHERE events.no = taken.no OFFSET 0) AS e) AS g
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

-- As in 0007, like all that follow.
CREATE OR REPLACE FUNCTION claim_deliveries(
  at timestamptz, until timestamptz, me bigint, after_no integer, deliveries_max integer, usual_room integer,
  look_back boolean,
  known_nos integer[], known_rooms integer[], known_held boolean[], known_froms bigint[], under_way text
) RETURNS TABLE (
  webhook_no integer, version integer, lease_expired boolean, is_new boolean,
  sequences text, tries text, object_hashes text, accepted_ms text, behind text, payloads text
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  -- In the order of the indexes, and no further than needed, whatever the statistics say.
  SET enable_sort = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
  candidates integer[];
  leased     integer[];
  expired    integer[];
  held       text[] := string_to_array(under_way, E'\n');
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  WITH RECURSIVE aside AS (
    (SELECT greatest(d.webhook_no, 0) AS no, d.retry_at FROM deliveries d
      WHERE look_back AND d.retry_at IS NOT NULL AND greatest(d.webhook_no, 0) > after_no
      ORDER BY greatest(d.webhook_no, 0), d.retry_at LIMIT 1)
    UNION ALL
    SELECT next.no, next.retry_at FROM aside CROSS JOIN LATERAL (
      SELECT greatest(d.webhook_no, 0) AS no, d.retry_at FROM deliveries d
       WHERE d.retry_at IS NOT NULL AND greatest(d.webhook_no, 0) > aside.no
       ORDER BY greatest(d.webhook_no, 0), d.retry_at LIMIT 1) AS next
  ), waiting AS (
    (SELECT lane.webhook_no AS no FROM webhook_lanes lane
      WHERE lane.has_new AND greatest(lane.webhook_no, 0) > after_no
        AND coalesce(known_froms[array_position(known_nos, lane.webhook_no)], 0) <= lane.last_sequence
      ORDER BY greatest(lane.webhook_no, 0) OFFSET 0)
    UNION
    SELECT aside.no FROM aside WHERE aside.retry_at <= at
  )
  SELECT array_agg(waiting.no) INTO candidates
    FROM waiting WHERE coalesce(known_rooms[array_position(known_nos, waiting.no)], usual_room) > 0;
  IF candidates IS NULL THEN
    RETURN;
  END IF;
  -- Looked up one by one: in one query with the above, all webhooks were read to have them in order.
  candidates := ARRAY(SELECT w.no FROM webhooks w
                       WHERE w.no = ANY (candidates) AND w.status = 'active' AND w.deleted_at IS NULL ORDER BY w.no);

  -- In the order of their numbers, as everybody locks lanes.
  SELECT array_agg(lane.webhook_no), array_agg(lane.webhook_no) FILTER (WHERE lane.holder <> me) INTO leased, expired
    FROM (SELECT l.webhook_no, l.holder FROM webhook_lanes l
           WHERE l.webhook_no = ANY (ARRAY(SELECT no FROM unnest(candidates) AS no
                                            WHERE known_held[array_position(known_nos, no)] IS NOT TRUE))
             AND (l.holder IS NULL OR l.holder = me OR l.held_until <= at)
           ORDER BY l.webhook_no FOR NO KEY UPDATE) AS lane;
  UPDATE webhook_lanes lane SET holder = me, held_until = until WHERE lane.webhook_no = ANY (leased);
  candidates := ARRAY(SELECT no FROM unnest(candidates) AS no
                       WHERE known_held[array_position(known_nos, no)] OR no = ANY (leased));

  -- What another worker left behind may turn out to be finished. The lock on these lanes is held since they were leased, so
  -- nothing was put into their queues meanwhile that this would not see.
  UPDATE webhook_lanes lane SET open_from = lane.last_sequence + 1
   WHERE lane.webhook_no = ANY (leased) AND lane.has_new
     AND NOT EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = lane.webhook_no AND d.sequence >= lane.open_from
                        AND d.state = 'due' AND d.retry_at IS NULL OFFSET 0);

  RETURN QUERY
  SELECT found.no, found.version, coalesce(found.no = ANY (expired), false), found.is_new,
         string_agg(found.sequence::text, ','), string_agg(found.tries::text, ',') FILTER (WHERE NOT found.is_new),
         string_agg(found.object_hash::text, ','),
         string_agg((date_part('epoch', found.accepted_at) * 1000)::bigint::text, ','),
         string_agg(found.sequence::text, ',') FILTER (WHERE found.behind),
         string_agg(found.payload, E'\n')
    FROM (
      SELECT w.no, w.version, one.*, e.accepted_at, e.payload
        FROM unnest(candidates) AS c (no)
       CROSS JOIN LATERAL (SELECT no, version FROM webhooks WHERE webhooks.no = c.no OFFSET 0) AS w
       CROSS JOIN LATERAL (SELECT open_from FROM webhook_lanes WHERE webhook_lanes.webhook_no = c.no OFFSET 0) AS lane
       CROSS JOIN LATERAL (
         SELECT coalesce(known_froms[i], lane.open_from) AS first, coalesce(held[i], '{}')::int8multirange AS under_way,
                coalesce(known_rooms[i], usual_room) AS room,
                EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = c.no AND o.retry_at IS NOT NULL OFFSET 0) AS any_set_aside
           FROM array_position(known_nos, c.no) AS i OFFSET 0) AS known
        LEFT JOIN LATERAL (
         (SELECT d.sequence, d.tries, d.event_no, d.object_hash, false AS is_new, false AS behind FROM deliveries d
           WHERE look_back AND greatest(d.webhook_no, 0) = c.no AND d.retry_at <= at AND NOT known.under_way @> d.sequence
             -- What is new comes first if it is earlier and about the same object. That can only be among what was given back.
             AND (d.sequence < known.first OR NOT EXISTS (
                   SELECT FROM deliveries o WHERE o.webhook_no = c.no AND o.sequence >= known.first AND o.sequence < d.sequence
                      AND o.object_hash = d.object_hash AND o.state = 'due' AND o.retry_at IS NULL OFFSET 0))
           ORDER BY d.retry_at, d.sequence LIMIT known.room)
         UNION ALL
         (SELECT d.sequence, d.tries, d.event_no, d.object_hash, true,
                 known.any_set_aside
                   AND EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = d.webhook_no AND o.object_hash = d.object_hash
                                  AND o.retry_at IS NOT NULL AND o.sequence < d.sequence OFFSET 0)
            FROM deliveries d
           WHERE d.webhook_no = c.no AND d.sequence >= known.first AND d.state = 'due' AND d.retry_at IS NULL
             AND NOT known.under_way @> d.sequence
           ORDER BY d.sequence LIMIT known.room)
       ) AS one ON true
        LEFT JOIN LATERAL (SELECT accepted_at, payload FROM events WHERE events.no = one.event_no OFFSET 0) AS e ON true
       LIMIT deliveries_max
    ) AS found
   GROUP BY found.no, found.version, found.is_new;
END $$;

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
     CROSS JOIN LATERAL (SELECT o.ctid FROM deliveries o
                          WHERE o.webhook_no = r.webhook_no AND o.sequence = r.sequence LIMIT 1) AS found
     WHERE r.state <> 'waiting' AND d.ctid = found.ctid AND d.state = 'due'
       AND (r.state = 'delivered' OR (d.tries = r.tries AND r.webhook_no = ANY (mine)))
    RETURNING d.webhook_no, d.object_hash, r.state
  )
  SELECT array_agg(webhook_no), array_agg(object_hash), array_agg(state) INTO done_nos, done_hashes, done_states
    FROM written;

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

CREATE OR REPLACE FUNCTION replay_deliveries(at timestamptz, webhook integer, event_nos bigint[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  found   integer;
  missing bigint[];
BEGIN
  PERFORM FROM webhook_lanes WHERE webhook_no = webhook FOR NO KEY UPDATE;
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
   CROSS JOIN LATERAL (SELECT no FROM events WHERE events.no = wanted.no AND position IS NOT NULL OFFSET 0) AS e
   WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_no = wanted.no AND d.webhook_no = webhook OFFSET 0);
  IF missing IS NOT NULL THEN
    found := found + enqueue(at, missing, ARRAY[webhook]);
  END IF;
  RETURN found;
END $$;

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
      WHERE lane.webhook_no = ANY (ARRAY(SELECT webhook_no FROM deliveries WHERE event_no = ANY (event_nos)))
      ORDER BY lane.webhook_no FOR NO KEY UPDATE;
    WITH gone AS (
      DELETE FROM deliveries WHERE event_no = ANY (event_nos) RETURNING webhook_no, object_hash, state
    ), freed AS (
      SELECT DISTINCT next.id
        FROM gone CROSS JOIN LATERAL (
          SELECT o.ctid AS id FROM deliveries o
           WHERE greatest(o.webhook_no, 0) = gone.webhook_no AND o.object_hash = gone.object_hash
             AND o.retry_at IS NOT NULL AND o.state = 'waiting' AND o.event_no <> ALL (event_nos)
           ORDER BY o.sequence LIMIT 1) AS next
       WHERE gone.state = 'due'
    ), woken AS (
      UPDATE deliveries d SET state = 'due', retry_at = before FROM freed WHERE d.ctid = freed.id
    )
    SELECT count(*) INTO total FROM gone;
    DELETE FROM events WHERE no = ANY (event_nos);
    GET DIAGNOSTICS removed = ROW_COUNT;
    total := total + removed;
  END IF;

  DELETE FROM refused_requests r USING (
    SELECT ctid AS id FROM refused_requests WHERE at < before ORDER BY at LIMIT rows_max) AS old WHERE r.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM idempotency_keys k USING (
    SELECT ctid AS id FROM idempotency_keys WHERE created_at < before ORDER BY created_at LIMIT rows_max) AS old
   WHERE k.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;

  -- The deliveries of deleted webhooks, and then the webhooks.
  DELETE FROM deliveries d USING (
    SELECT o.id FROM webhooks w
     CROSS JOIN LATERAL (SELECT ctid AS id FROM deliveries WHERE webhook_no = w.no ORDER BY sequence LIMIT rows_max) AS o
     WHERE w.deleted_at IS NOT NULL LIMIT rows_max) AS old
   WHERE d.ctid = old.id;
  GET DIAGNOSTICS removed = ROW_COUNT;
  total := total + removed;
  DELETE FROM webhooks w WHERE deleted_at IS NOT NULL
     AND NOT EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = w.no ORDER BY d.sequence OFFSET 0);
  RETURN total;
END $$;
