-- Leases lanes to a worker and hands it deliveries to send: from one webhook after the other beginning after `after_no`, from each no more
-- than it has room for. The lane of a worker that is alive and whose lease has not run out is passed over.
--
-- Guarantees:
-- - A lane has one holder at a time. What is handed out is not marked: the holder knows what it has under way and names it (`under_way`).
-- - A new delivery is told apart (`behind`) if an earlier one about the same object was set aside and is not finished.
-- - Whether its partner may still receive what is queued is asked for each webhook, of what is committed by now (`entitled_ms`: for how long the
--   answer is good, see src/sql/events/entitled_webhooks_2.sql). One whose partner may not is answered with 0 and no delivery, and is not leased.
-- - Of a webhook for all practice groups of a partner that is asked for the group of each delivery, under the lock on its lane: what is queued of a
--   group that the partner may not receive is set aside, and the others go on (src/sql/delivery/withhold_groups.sql). `group_ids` names the groups that
--   were found to be entitled; it is null for an operators' webhook.
-- - It costs what there is to do, not what has ever been done: lanes with something new and deliveries set aside have indexes of their own,
--   and webhooks are found by hopping through them. How plans are kept on the way is told in migrations/0001_baseline.sql, Deliveries.
--
-- `at`: the time, null for the server's own (`shared_now`); a lease ends `lease_ms` after it.
-- `look_back`: also what was set aside and is due. `known_nos`, sorted: the webhooks that the worker knows, and for each its room, whether the
-- worker holds its lane for long enough, from which sequence on it wants what is new (null: from the beginning), and in `under_way`, line by
-- line as ranges, the sequences that it has already. `usual_room` is for the others. `passed_over`: webhooks that must not be given anything, of
-- which the worker has nothing under way; there may be thousands, behind a host that is away. `usual_only`: also passes over what a node of
-- version 1 cannot serve.
--
-- Answers with lists, one row for each webhook and kind, and one row without a webhook for the events, each of them once: a row for each
-- delivery cost the worker 4 µs more, and an event that goes to several webhooks was read for each. A delivery whose event is not there,
-- or is of none of the groups that its row names, is not among what the worker makes of it (store/events/deliveries-claim.ts).
CREATE OR REPLACE FUNCTION claim_deliveries_3(
  at timestamptz, lease_ms integer, me bigint, after_no integer, deliveries_max integer, usual_room integer, look_back boolean,
  known_nos integer[], known_rooms integer[], known_held boolean[], known_froms bigint[], under_way text, passed_over integer[],
  usual_only boolean
) RETURNS TABLE (
  webhook_no integer, version integer, lease_expired boolean, is_new boolean, sequences text, tries text, behind text,
  event_nos text, object_hashes text, accepted_ms text, payloads text, group_ids text, entitled_ms integer, is_wide boolean
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
  wide         integer[];
  others       integer[];
  leased       integer[];
  expired      integer[];
  held         text[] := string_to_array(under_way, E'\n');
  of_lane      record;
  i            integer;
  wide_nos     integer[];
  wide_handed  integer[];
  wide_groups  text[];
  sequences_   bigint[];
  tries_       integer[];
  event_nos_   bigint[];
  are_new_     boolean[];
  behind_      boolean[];
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
    (SELECT lane.no
       FROM (SELECT webhook_no AS no, last_sequence FROM webhook_lanes
              WHERE has_new AND greatest(webhook_no, 0) > after_no AND webhook_no NOT IN (SELECT unnest(passed_over))
              ORDER BY greatest(webhook_no, 0) OFFSET 0) AS lane
      WHERE coalesce(known_froms[place_in(lane.no, known_nos)], 0) <= lane.last_sequence)
    UNION
    SELECT aside.no FROM aside WHERE aside.retry_at <= at AND aside.no NOT IN (SELECT unnest(passed_over))
  )
  SELECT array_agg(waiting.no) INTO candidates
    FROM waiting WHERE coalesce(known_rooms[place_in(waiting.no, known_nos)], usual_room) > 0;
  IF candidates IS NULL THEN
    RETURN;
  END IF;
  SELECT coalesce(array_agg(asked.webhook_no ORDER BY asked.webhook_no) FILTER (WHERE asked.entitled_ms > 0), '{}'),
         array_agg(asked.entitled_ms ORDER BY asked.webhook_no) FILTER (WHERE asked.entitled_ms > 0),
         array_agg(asked.webhook_no) FILTER (WHERE asked.entitled_ms = 0),
         array_agg(asked.webhook_no ORDER BY asked.webhook_no) FILTER (WHERE asked.entitled_ms > 0 AND asked.is_wide)
    INTO entitled, entitled_for, barred, wide
    FROM entitled_webhooks_2(at, candidates, NULL) AS asked WHERE asked.is_usual OR NOT usual_only;
  candidates := entitled;

  -- A wide one is always leased anew, for the lock on its lane.
  others := ARRAY(SELECT no FROM unnest(candidates) AS no WHERE known_held[place_in(no, known_nos)] IS NOT TRUE OR no = ANY (wide));
  IF others <> '{}' THEN
    -- In the order of their numbers, as everybody locks lanes.
    SELECT array_agg(lane.webhook_no), array_agg(lane.webhook_no) FILTER (WHERE lane.holder <> me) INTO leased, expired
      FROM (SELECT l.webhook_no, l.holder FROM webhook_lanes l
             WHERE l.webhook_no = ANY (others) AND (l.holder IS NULL OR l.holder = me OR l.held_until <= at)
             ORDER BY l.webhook_no FOR NO KEY UPDATE) AS lane;
    UPDATE webhook_lanes lane SET holder = me, held_until = at + lease_ms * interval '1 ms' WHERE lane.webhook_no = ANY (leased);
    candidates := ARRAY(SELECT no FROM unnest(candidates) AS no
                         WHERE (known_held[place_in(no, known_nos)] AND no <> ALL (coalesce(wide, '{}'))) OR no = ANY (leased));

    -- What another worker left behind may turn out to be finished. The lock on these lanes is held since they were leased, so
    -- nothing was put into their queues meanwhile that this would not see.
    UPDATE webhook_lanes lane SET open_from = lane.last_sequence + 1
     WHERE lane.webhook_no = ANY (leased) AND lane.has_new
       AND NOT EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = lane.webhook_no AND d.sequence >= lane.open_from
                          AND d.state = 'due' AND d.retry_at IS NULL ORDER BY d.sequence OFFSET 0);
  END IF;

  FOREACH i IN ARRAY ARRAY(SELECT no FROM unnest(wide) AS no WHERE no = ANY (candidates)) LOOP
    SELECT * INTO of_lane
      FROM withhold_groups(at, i, look_back, known_froms[place_in(i, known_nos)], coalesce(known_rooms[place_in(i, known_nos)], usual_room),
                           coalesce(held[place_in(i, known_nos)], '{}')::int8multirange);
    IF of_lane.entitled_ms IS NULL THEN
      candidates := array_remove(candidates, i);
      CONTINUE;
    END IF;
    wide_nos := wide_nos || i;
    wide_groups := wide_groups || coalesce(of_lane.group_ids, '');
    entitled_for[place_in(i, entitled)] := of_lane.entitled_ms;
    wide_handed := wide_handed || array_fill(i, ARRAY[coalesce(cardinality(of_lane.sequences), 0)]);
    sequences_ := sequences_ || of_lane.sequences;
    tries_ := tries_ || of_lane.tries;
    event_nos_ := event_nos_ || of_lane.event_nos;
    are_new_ := are_new_ || of_lane.are_new;
    behind_ := behind_ || of_lane.behind;
  END LOOP;

  RETURN QUERY
  WITH found AS MATERIALIZED (
    SELECT w.no, w.version, CASE WHEN known.is_wide THEN wide_groups[place_in(w.no, wide_nos)] ELSE w.practice_group_id END AS group_ids, one.*
      FROM unnest(candidates) AS c (no)
     CROSS JOIN LATERAL (SELECT no, version, practice_group_id FROM webhooks WHERE webhooks.no = c.no OFFSET 0) AS w
     CROSS JOIN LATERAL (SELECT open_from FROM webhook_lanes WHERE webhook_lanes.webhook_no = c.no OFFSET 0) AS lane
     CROSS JOIN LATERAL (
       SELECT coalesce(known_froms[place.i], lane.open_from) AS first, coalesce(held[place.i], '{}')::int8multirange AS under_way,
              coalesce(known_rooms[place.i], usual_room) AS room, c.no = ANY (wide_nos) IS TRUE AS is_wide,
              EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = c.no AND o.retry_at IS NOT NULL OFFSET 0) AS any_set_aside
         FROM (SELECT place_in(c.no, known_nos)) AS place (i) OFFSET 0) AS known
      LEFT JOIN LATERAL (
       (SELECT d.sequence, d.tries, d.event_no, d.object_hash, false AS is_new, false AS behind FROM deliveries d
         WHERE look_back AND NOT known.is_wide AND greatest(d.webhook_no, 0) = c.no AND d.retry_at <= at
           AND NOT known.under_way @> d.sequence
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
         WHERE NOT known.is_wide AND d.webhook_no = c.no AND d.sequence >= known.first AND d.state = 'due' AND d.retry_at IS NULL
           AND NOT known.under_way @> d.sequence
         ORDER BY d.sequence LIMIT known.room)
       UNION ALL
       (SELECT h.sequence, h.tries::smallint, h.event_no, 0, h.is_new, h.behind
          FROM unnest(wide_handed, sequences_, tries_, event_nos_, are_new_, behind_) AS h (no, sequence, tries, event_no, is_new, behind)
         WHERE known.is_wide AND h.no = c.no)
     ) AS one ON true
     LIMIT deliveries_max
  )
  SELECT no, found.version, coalesce(no = ANY (expired), false), found.is_new,
         string_agg(sequence::text, ','), string_agg(found.tries::text, ',') FILTER (WHERE NOT found.is_new),
         string_agg(sequence::text, ',') FILTER (WHERE found.behind), string_agg(event_no::text, ','), NULL, NULL, NULL, found.group_ids,
         entitled_for[place_in(no, entitled)], coalesce(no = ANY (wide_nos), false)
    FROM found GROUP BY no, found.version, found.group_ids, found.is_new
  UNION ALL
  SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, string_agg(no::text, ','), string_agg(object_hash::text, ','),
         string_agg((date_part('epoch', accepted_at) * 1000)::bigint::text, ','), string_agg(payload, E'\n'), string_agg(practice_group_id, E'\n'),
         NULL, NULL
    FROM events WHERE no = ANY (ARRAY(SELECT event_no FROM found))
  UNION ALL
  SELECT no, 0, false, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, false FROM unnest(barred) AS no;
END $$;
