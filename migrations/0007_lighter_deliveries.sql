-- The queue again, at about half the cost. A delivery was in four indexes while it was open, and its end was a new version of its
-- row with an entry in two or three of them. But most deliveries succeed at the first attempt: those are now in two
-- indexes from the beginning, and finishing one touches none (PostgreSQL calls that a heap-only update).
--
--   new         state due, retry_at null: never attempted. Found by its place in the lane, from `open_from` on.
--   set aside   retry_at not null: to be tried again then, or at `infinity` if it waits for an earlier one about the same
--               object (state waiting). Found by the two partial indexes below, which hold nothing else.
--   finished    state delivered or failed, retry_at null.
ALTER TABLE deliveries ADD COLUMN retry_at timestamptz;
UPDATE deliveries SET retry_at = CASE state WHEN 'due' THEN due_at ELSE 'infinity' END WHERE state IN ('waiting', 'due');
DROP INDEX deliveries_due;
DROP INDEX deliveries_waiting;
DROP INDEX deliveries_open;
-- As JSON the text is stored as it comes; to build the binary form of it took a third of the time of recording a result.
ALTER TABLE deliveries DROP COLUMN due_at, ALTER COLUMN attempts DROP DEFAULT;
ALTER TABLE deliveries ALTER COLUMN attempts TYPE json USING attempts::json, ALTER COLUMN attempts SET DEFAULT '[]';
-- The result of an attempt makes a row twice as long, and both versions must find room on one page to be a heap-only update.
ALTER TABLE deliveries SET (fillfactor = 30);
CREATE INDEX deliveries_set_aside ON deliveries (webhook_no, retry_at, sequence) WHERE retry_at IS NOT NULL;
CREATE INDEX deliveries_set_aside_by_object ON deliveries (webhook_no, object_hash, sequence) WHERE retry_at IS NOT NULL;

-- No delivery before `open_from` is new. Only the holder of the lane moves it, for it knows what it has under way. That
-- there are new ones is a column of its own, so that the index changes when that does, not with every delivery.
ALTER TABLE webhook_lanes ADD COLUMN open_from bigint NOT NULL DEFAULT 1;
UPDATE webhook_lanes SET open_from = last_sequence + 1;
ALTER TABLE webhook_lanes ADD COLUMN has_new boolean GENERATED ALWAYS AS (open_from <= last_sequence) STORED;
CREATE INDEX webhook_lanes_with_new ON webhook_lanes (webhook_no) WHERE has_new;

-- As in 0005, but that a delivery may have to wait for another is found out when it is claimed: by then most others are
-- finished.
CREATE OR REPLACE FUNCTION enqueue(at timestamptz, event_nos bigint[], webhook_nos integer[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  made integer;
BEGIN
  PERFORM FROM webhook_lanes WHERE webhook_no = ANY (webhook_nos) ORDER BY webhook_no FOR NO KEY UPDATE;
  -- A statement of its own, so that it sees what was committed while the lock was waited for.
  WITH put AS (
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
    SELECT w.no, lane.last_sequence + row_number() OVER (PARTITION BY w.no ORDER BY e.no), e.no, e.object_hash, 'due', at
      FROM unnest(event_nos) AS taken (no)
      JOIN events e ON e.no = taken.no
      JOIN webhooks w ON w.practice_group_id = e.practice_group_id AND w.deleted_at IS NULL AND w.no = ANY (webhook_nos)
      JOIN webhook_lanes lane ON lane.webhook_no = w.no
     WHERE (e.event = ANY (w.event_types) AND (e.only_partner_id IS NULL OR e.only_partner_id = w.partner_id))
        OR e.only_webhook_no = w.no
    RETURNING webhook_no
  ), counted AS (
    SELECT webhook_no, count(*) AS added FROM put GROUP BY webhook_no
  ), moved AS (
    UPDATE webhook_lanes lane SET last_sequence = last_sequence + added
      FROM counted WHERE lane.webhook_no = counted.webhook_no
  )
  SELECT coalesce(sum(added), 0) INTO made FROM counted;
  RETURN made;
END $$;

-- Hands deliveries to a worker, from one webhook after the other beginning after `after_no`, from each no more than it has
-- room for, and leases their lanes to it. What somebody else holds is passed over. `look_back`: also those that were set
-- aside and are due; their webhooks are found by hopping from one to the next in the index, so it costs what there is to
-- do, not what has ever been done.
-- `known_nos`: webhooks that the worker knows; for each its room, whether the worker holds its lane for long enough, from
-- where on it wants what is new (null: from the beginning), and in `under_way`, line by line as ranges, the sequences that
-- it has already and that must not be handed out again.
-- One row for each webhook that was looked at and kind, with lists: a row for each delivery cost the worker 4 µs more.
-- `behind`: those that are new, but have to wait for one about the same object that was set aside.
DROP FUNCTION claim_deliveries;
CREATE FUNCTION claim_deliveries(
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
    (SELECT d.webhook_no AS no, d.retry_at FROM deliveries d
      WHERE look_back AND d.retry_at IS NOT NULL AND d.webhook_no > after_no ORDER BY d.webhook_no, d.retry_at LIMIT 1)
    UNION ALL
    SELECT next.no, next.retry_at FROM aside CROSS JOIN LATERAL (
      SELECT d.webhook_no AS no, d.retry_at FROM deliveries d
       WHERE d.retry_at IS NOT NULL AND d.webhook_no > aside.no ORDER BY d.webhook_no, d.retry_at LIMIT 1) AS next
  ), waiting AS (
    SELECT lane.webhook_no AS no FROM webhook_lanes lane
     WHERE lane.has_new AND lane.webhook_no > after_no
       AND coalesce(known_froms[array_position(known_nos, lane.webhook_no)], 0) <= lane.last_sequence
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
                        AND d.state = 'due' AND d.retry_at IS NULL);

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
        JOIN webhooks w ON w.no = c.no
        JOIN webhook_lanes lane ON lane.webhook_no = c.no
       -- OFFSET 0 keeps this from being worked out again for every row.
       CROSS JOIN LATERAL (
         SELECT coalesce(known_froms[i], lane.open_from) AS first, coalesce(held[i], '{}')::int8multirange AS under_way,
                coalesce(known_rooms[i], usual_room) AS room,
                EXISTS (SELECT FROM deliveries o WHERE o.webhook_no = c.no AND o.retry_at IS NOT NULL) AS any_set_aside
           FROM array_position(known_nos, c.no) AS i OFFSET 0) AS known
        LEFT JOIN LATERAL (
         (SELECT d.sequence, d.tries, d.event_no, d.object_hash, false AS is_new, false AS behind FROM deliveries d
           WHERE look_back AND d.webhook_no = c.no AND d.retry_at <= at AND NOT known.under_way @> d.sequence
             -- What is new comes first if it is earlier and about the same object. That can only be among what was given back.
             AND (d.sequence < known.first OR NOT EXISTS (
                   SELECT FROM deliveries o WHERE o.webhook_no = c.no AND o.sequence >= known.first AND o.sequence < d.sequence
                      AND o.object_hash = d.object_hash AND o.state = 'due' AND o.retry_at IS NULL))
           ORDER BY d.retry_at, d.sequence LIMIT known.room)
         UNION ALL
         (SELECT d.sequence, d.tries, d.event_no, d.object_hash, true,
                 known.any_set_aside
                   AND EXISTS (SELECT FROM deliveries o WHERE o.webhook_no = d.webhook_no AND o.object_hash = d.object_hash
                                  AND o.retry_at IS NOT NULL AND o.sequence < d.sequence)
            FROM deliveries d
           WHERE d.webhook_no = c.no AND d.sequence >= known.first AND d.state = 'due' AND d.retry_at IS NULL
             AND NOT known.under_way @> d.sequence
           ORDER BY d.sequence LIMIT known.room)
       ) AS one ON true
        LEFT JOIN events e ON e.no = one.event_no
       LIMIT deliveries_max
    ) AS found
   GROUP BY found.no, found.version, found.is_new;
END $$;

-- Writes what became of deliveries, and tells how their webhooks are doing and how many deliveries it woke. A failure from
-- a worker that no longer holds the lane is not written, for another one is at it; a success is, for it has been received.
-- Nor is one written twice: that is what `tries_before` is for. When an event is finished, the next one about its object is due.
-- `states`: delivered; failed: given up; due: to be tried again at `retry_ats`; waiting: not sent, because the one before it
-- about the same object (`afters`, or one that was set aside) is not finished. `attempt_texts`: line by line, each a JSON array of one.
-- Of several about one object that are put back at once, one at most is due; one that is put back behind others that all wait
-- themselves (a replay, when the one under way was taken over) wakes the first of them, else nobody would.
-- `held`: whether the worker still has the lane; if not, it must not go on as if all of this had been written.
-- Rows are found one by one, in a sub-select, and written where they lie, which the lock on the lane keeps from changing: as a join,
-- with statistics from when the queue was nearly empty, 500 results among 20,000 deliveries took 46 s.
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
                        AND o.state = 'due') AS is_led,
             row_number() OVER (PARTITION BY d.webhook_no, d.object_hash ORDER BY d.sequence) > 1
               OR EXISTS (SELECT FROM deliveries o WHERE o.webhook_no = d.webhook_no AND o.object_hash = d.object_hash
                             AND o.retry_at IS NOT NULL AND o.sequence < d.sequence) AS is_behind
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
  IF EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = ANY (lane_nos) AND d.retry_at = 'infinity') THEN
    UPDATE deliveries d SET state = 'due', retry_at = record_results.at
      FROM (SELECT no, hash FROM unnest(done_nos, done_hashes, done_states) AS done (no, hash, state) WHERE state <> 'due'
            UNION
            SELECT no, hash FROM unnest(led_by_none_nos, led_by_none_hashes) AS put_back (no, hash)) AS done
     CROSS JOIN LATERAL (
       -- "due" comes before "waiting": as long as one is due, none is woken.
       SELECT o.ctid, o.state FROM deliveries o
        WHERE o.webhook_no = done.no AND o.object_hash = done.hash AND o.retry_at IS NOT NULL
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
   WHERE lane.webhook_no = told.no
  RETURNING lane.webhook_no, lane.failures, lane.failing_since, woken_count + freed_count,
            coalesce(lane.webhook_no = ANY (mine), false);
END $$;

-- As in 0003. One that is new and on its way as it is stays so.
CREATE OR REPLACE FUNCTION replay_deliveries(at timestamptz, webhook integer, event_nos bigint[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  found   integer;
  missing bigint[];
BEGIN
  PERFORM FROM webhook_lanes WHERE webhook_no = webhook FOR NO KEY UPDATE;
  WITH chosen AS (
    SELECT d.sequence, d.state IN ('delivered', 'failed') AS finished,
           row_number() OVER (PARTITION BY d.object_hash, d.state IN ('delivered', 'failed') ORDER BY d.sequence) > 1
             OR EXISTS (SELECT FROM deliveries o WHERE o.webhook_no = webhook AND o.object_hash = d.object_hash
                           AND o.retry_at IS NOT NULL) AS behind
      FROM unnest(event_nos) AS wanted (no)
      JOIN deliveries d ON d.event_no = wanted.no AND d.webhook_no = webhook
  ), restarted AS (
    UPDATE deliveries d
       SET state = CASE WHEN NOT finished THEN d.state WHEN behind THEN 'waiting' ELSE 'due' END,
           retry_at = CASE WHEN d.state = 'waiting' OR (finished AND behind) THEN 'infinity' ELSE at END,
           tries = CASE WHEN finished THEN 0 ELSE d.tries END,
           finished_at = NULL
      FROM chosen
     WHERE d.webhook_no = webhook AND d.sequence = chosen.sequence AND (finished OR d.retry_at IS NOT NULL)
  )
  SELECT count(*) INTO found FROM chosen;

  -- What has no place in the feed yet is still to be fanned out, and comes by itself.
  SELECT array_agg(e.no ORDER BY e.no) INTO missing
    FROM unnest(event_nos) AS wanted (no) JOIN events e ON e.no = wanted.no AND e.position IS NOT NULL
   WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_no = wanted.no AND d.webhook_no = webhook);
  IF missing IS NOT NULL THEN
    found := found + enqueue(at, missing, ARRAY[webhook]);
  END IF;
  RETURN found;
END $$;

-- As in 0003, with the next one found among those that were set aside, and with the lanes of all that goes locked first, finished
-- or not: a replay of what was finished could begin meanwhile, and another one wait for it that nobody would wake.
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
      WHERE lane.webhook_no = ANY (ARRAY(SELECT DISTINCT d.webhook_no FROM unnest(event_nos) AS gone (no)
                                           JOIN deliveries d ON d.event_no = gone.no))
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
