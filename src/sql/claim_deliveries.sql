-- Leases lanes to a worker and hands it deliveries to send: from one webhook after the other beginning after `after_no`, from each no more
-- than it has room for. The lane of a worker that is alive and whose lease has not run out is passed over.
--
-- Guarantees:
-- - A lane has one holder at a time. What is handed out is not marked: the holder knows what it has under way and names it (`under_way`).
-- - A new delivery is told apart (`behind`) if an earlier one about the same object was set aside and is not finished.
-- - Whether its partner may still receive what is queued is asked for each webhook, of what is committed by now (`entitled_ms`: for how long the
--   answer is good, see src/sql/entitled_webhooks.sql). One whose partner may not is answered with 0 and no delivery, and is not leased.
-- - It costs what there is to do, not what has ever been done: lanes with something new and deliveries set aside have indexes of their own,
--   and webhooks are found by hopping through them. How plans are kept on the way is told in migrations/0001_baseline.sql, Deliveries.
--
-- `at`: the time, null for the server's own (`shared_now`); a lease ends `lease_ms` after it.
-- `look_back`: also what was set aside and is due. `known_nos`, sorted: the webhooks that the worker knows, and for each its room, whether the
-- worker holds its lane for long enough, from which sequence on it wants what is new (null: from the beginning), and in `under_way`, line by
-- line as ranges, the sequences that it has already. `usual_room` is for the others.
--
-- Answers with lists, one row for each webhook and kind, and one row without a webhook for the events, each of them once: a row for each
-- delivery cost the worker 4 µs more, and an event that goes to several webhooks was read for each. A delivery whose event is not there,
-- or is another practice group's than the webhook, is not among what the worker makes of it (store/deliveries.ts).
CREATE OR REPLACE FUNCTION claim_deliveries(
  at timestamptz, lease_ms integer, me bigint, after_no integer, deliveries_max integer, usual_room integer, look_back boolean,
  known_nos integer[], known_rooms integer[], known_held boolean[], known_froms bigint[], under_way text
) RETURNS TABLE (
  webhook_no integer, version integer, lease_expired boolean, is_new boolean, sequences text, tries text, behind text,
  event_nos text, object_hashes text, accepted_ms text, payloads text, group_ids text, entitled_ms integer
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_sort = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
  candidates   integer[];
  entitled     integer[];
  entitled_for integer[];
  barred       integer[];
  others       integer[];
  leased       integer[];
  expired      integer[];
  held         text[] := string_to_array(under_way, E'\n');
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  at := shared_now(at);
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
        AND coalesce(known_froms[place_in(lane.webhook_no, known_nos)], 0) <= lane.last_sequence
      ORDER BY greatest(lane.webhook_no, 0) OFFSET 0)
    UNION
    SELECT aside.no FROM aside WHERE aside.retry_at <= at
  )
  SELECT array_agg(waiting.no) INTO candidates
    FROM waiting WHERE coalesce(known_rooms[place_in(waiting.no, known_nos)], usual_room) > 0;
  IF candidates IS NULL THEN
    RETURN;
  END IF;
  SELECT coalesce(array_agg(asked.webhook_no ORDER BY asked.webhook_no) FILTER (WHERE asked.entitled_ms > 0), '{}'),
         array_agg(asked.entitled_ms ORDER BY asked.webhook_no) FILTER (WHERE asked.entitled_ms > 0),
         array_agg(asked.webhook_no) FILTER (WHERE asked.entitled_ms = 0)
    INTO entitled, entitled_for, barred FROM entitled_webhooks(at, candidates) AS asked;
  candidates := entitled;

  others := ARRAY(SELECT no FROM unnest(candidates) AS no WHERE known_held[place_in(no, known_nos)] IS NOT TRUE);
  IF others <> '{}' THEN
    -- In the order of their numbers, as everybody locks lanes.
    SELECT array_agg(lane.webhook_no), array_agg(lane.webhook_no) FILTER (WHERE lane.holder <> me) INTO leased, expired
      FROM (SELECT l.webhook_no, l.holder FROM webhook_lanes l
             WHERE l.webhook_no = ANY (others) AND (l.holder IS NULL OR l.holder = me OR l.held_until <= at)
             ORDER BY l.webhook_no FOR NO KEY UPDATE) AS lane;
    UPDATE webhook_lanes lane SET holder = me, held_until = at + lease_ms * interval '1 ms' WHERE lane.webhook_no = ANY (leased);
    candidates := ARRAY(SELECT no FROM unnest(candidates) AS no
                         WHERE known_held[place_in(no, known_nos)] OR no = ANY (leased));

    -- What another worker left behind may turn out to be finished. The lock on these lanes is held since they were leased, so
    -- nothing was put into their queues meanwhile that this would not see.
    UPDATE webhook_lanes lane SET open_from = lane.last_sequence + 1
     WHERE lane.webhook_no = ANY (leased) AND lane.has_new
       AND NOT EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = lane.webhook_no AND d.sequence >= lane.open_from
                          AND d.state = 'due' AND d.retry_at IS NULL ORDER BY d.sequence OFFSET 0);
  END IF;

  RETURN QUERY
  WITH found AS MATERIALIZED (
    SELECT w.no, w.version, w.practice_group_id, one.*
      FROM unnest(candidates) AS c (no)
     -- Events for the operator's webhooks have '' for a practice group.
     CROSS JOIN LATERAL (SELECT no, version, CASE audience WHEN 'operator' THEN '' ELSE practice_group_id END AS practice_group_id
                           FROM webhooks WHERE webhooks.no = c.no OFFSET 0) AS w
     CROSS JOIN LATERAL (SELECT open_from FROM webhook_lanes WHERE webhook_lanes.webhook_no = c.no OFFSET 0) AS lane
     CROSS JOIN LATERAL (
       SELECT coalesce(known_froms[i], lane.open_from) AS first, coalesce(held[i], '{}')::int8multirange AS under_way,
              coalesce(known_rooms[i], usual_room) AS room,
              EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = c.no AND o.retry_at IS NOT NULL OFFSET 0) AS any_set_aside
         FROM (SELECT place_in(c.no, known_nos) AS i) AS place OFFSET 0) AS known
      LEFT JOIN LATERAL (
       (SELECT d.sequence, d.tries, d.event_no, d.object_hash, false AS is_new, false AS behind FROM deliveries d
         WHERE look_back AND greatest(d.webhook_no, 0) = c.no AND d.retry_at <= at AND NOT known.under_way @> d.sequence
           -- What is new comes first if it is earlier and about the same object. That can only be among what was given back.
           AND (d.sequence < known.first OR NOT EXISTS (
                 SELECT FROM deliveries o WHERE o.webhook_no = c.no AND o.sequence >= known.first AND o.sequence < d.sequence
                    AND o.object_hash = d.object_hash AND o.state = 'due' AND o.retry_at IS NULL ORDER BY o.sequence OFFSET 0))
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
     LIMIT deliveries_max
  )
  SELECT no, found.version, coalesce(no = ANY (expired), false), found.is_new,
         string_agg(sequence::text, ','), string_agg(found.tries::text, ',') FILTER (WHERE NOT found.is_new),
         string_agg(sequence::text, ',') FILTER (WHERE found.behind), string_agg(event_no::text, ','), NULL, NULL, NULL, practice_group_id,
         entitled_for[place_in(no, entitled)]
    FROM found GROUP BY no, found.version, practice_group_id, found.is_new
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, string_agg(no::text, ','), string_agg(object_hash::text, ','),
         string_agg((date_part('epoch', accepted_at) * 1000)::bigint::text, ','), string_agg(payload, E'\n'), string_agg(practice_group_id, E'\n'),
         NULL
    FROM events WHERE no = ANY (ARRAY(SELECT event_no FROM found))
  UNION ALL
  SELECT no, 0, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 FROM unnest(barred) AS no;
END $$;
