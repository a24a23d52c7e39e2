-- The steps of the delivery engine, one function each, with what it guarantees. How they follow on each other is told in
-- src/delivery/engine.ts. Plans are pinned: statistics from a quiet time make others look cheap that read a whole queue.

-- These functions were once part of 0002. A database from that time has them, and an index that was not unique.
DROP INDEX deliveries_by_event;
CREATE UNIQUE INDEX deliveries_by_event ON deliveries (event_no, webhook_no);

-- Whether the partner of a webhook may hear of its practice group at this moment: it is verified, and holds a key that is
-- alive and tied to the group, or to another one of a network that holds both.
CREATE OR REPLACE FUNCTION may_receive(partner text, group_id text, at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM partners WHERE id = partner AND status = 'verified')
     AND (EXISTS (SELECT FROM api_keys k
                   WHERE k.practice_group_id = group_id AND k.partner_id = partner
                     AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at))
       OR EXISTS (SELECT FROM network_members mine
                    JOIN network_members theirs ON theirs.network_id = mine.network_id
                    JOIN api_keys k ON k.practice_group_id = theirs.practice_group_id AND k.partner_id = partner
                   WHERE mine.practice_group_id = group_id
                     AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at)))
$$;

-- Puts one event into the queues of its webhooks; `event_nos` in the order of their acceptance. Returns how many
-- deliveries were made. The caller holds no lock on a lane.
CREATE OR REPLACE FUNCTION enqueue(at timestamptz, event_nos bigint[], webhook_nos integer[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  made integer;
BEGIN
  PERFORM FROM webhook_lanes WHERE webhook_no = ANY (webhook_nos) ORDER BY webhook_no FOR NO KEY UPDATE;
  -- A statement of its own, so that it sees what was committed while the lock was waited for.
  WITH wanted AS (
    SELECT w.no AS webhook_no, e.no AS event_no, e.object_hash,
           row_number() OVER (PARTITION BY w.no ORDER BY e.no) AS place,
           row_number() OVER (PARTITION BY w.no, e.object_hash ORDER BY e.no) AS place_of_object
      FROM unnest(event_nos) AS taken (no)
      JOIN events e ON e.no = taken.no
      JOIN webhooks w ON w.practice_group_id = e.practice_group_id AND w.deleted_at IS NULL
      JOIN unnest(webhook_nos) AS chosen (no) ON chosen.no = w.no
     WHERE e.event = ANY (w.event_types) OR e.only_webhook_no = w.no
  ), put AS (
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, due_at, created_at)
    SELECT wanted.webhook_no, lane.last_sequence + place, event_no, object_hash,
           CASE WHEN place_of_object > 1
                  OR EXISTS (SELECT FROM deliveries d
                              WHERE d.webhook_no = wanted.webhook_no AND d.object_hash = wanted.object_hash
                                AND d.state IN ('waiting', 'due'))
                THEN 'waiting' ELSE 'due' END,
           at, at
      FROM wanted JOIN webhook_lanes lane ON lane.webhook_no = wanted.webhook_no
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

-- Takes the oldest events that nobody has looked at and puts each into the queue of every webhook that wants it and may
-- have it now. One node at a time: the others get -1 and need not wait, the work is being done. So places in the feed
-- and sequences have no gaps, and an event that was accepted before another began is always put first.
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
  UPDATE feed_head SET position = position + taken RETURNING position - taken INTO head;
  UPDATE events e SET position = head + n FROM unnest(event_nos) WITH ORDINALITY AS placed (no, n) WHERE e.no = placed.no;
END $$;

-- Hands deliveries that are due to a worker, from one webhook after the other beginning after `after_no`, from each no
-- more than it has room for, and leases their lanes to it. The queues are found by hopping from one to the next in the
-- index, so it costs what there is to do, not what has ever been done. What somebody else holds is passed over.
-- `known_nos`: webhooks that the worker knows; for each its room, whether the worker holds its lane for long enough, and in
-- `under_way`, line by line, the sequences that the worker has already. They come as ranges: compared one by one with a list,
-- a thousand of them took 80 µs a delivery.
-- `known_lasts`: where given, only what follows this sequence is wanted. Sequences commit in their order, so nothing new can
-- be before it, and neither what is under way nor what was just finished has to be passed over. What an earlier place
-- holds (a retry, one that was waiting, a replay) is found by the claims that leave it out.
CREATE OR REPLACE FUNCTION claim_deliveries(
  at timestamptz, until timestamptz, me bigint, after_no integer, deliveries_max integer, usual_room integer,
  known_nos integer[], known_rooms integer[], known_held boolean[], known_lasts bigint[],
  under_way text
) RETURNS TABLE (
  webhook_no integer, version integer, sequence bigint, tries smallint, payload text, accepted_at timestamptz,
  lease_expired boolean
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  -- In the order of the index of what is due, whatever the statistics say.
  SET enable_sort = off
AS $$
#variable_conflict use_column
DECLARE
  candidates integer[];
  expired    integer[];
  held       text[] := string_to_array(under_way, E'\n');
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  WITH RECURSIVE lanes AS (
    (SELECT d.webhook_no AS no, d.due_at FROM deliveries d
      WHERE d.state = 'due' AND d.webhook_no > after_no ORDER BY d.webhook_no, d.due_at LIMIT 1)
    UNION ALL
    SELECT next.no, next.due_at FROM lanes CROSS JOIN LATERAL (
      SELECT d.webhook_no AS no, d.due_at FROM deliveries d
       WHERE d.state = 'due' AND d.webhook_no > lanes.no ORDER BY d.webhook_no, d.due_at LIMIT 1) AS next
  )
  SELECT array_agg(lanes.no) INTO candidates
    FROM lanes JOIN webhooks w ON w.no = lanes.no AND w.status = 'active' AND w.deleted_at IS NULL
   WHERE lanes.due_at <= at AND coalesce(known_rooms[array_position(known_nos, lanes.no)], usual_room) > 0;
  IF candidates IS NULL THEN
    RETURN;
  END IF;

  WITH free AS (
    SELECT lane.webhook_no, lane.holder FROM unnest(candidates) AS c (no)
      JOIN webhook_lanes lane ON lane.webhook_no = c.no
     WHERE known_held[array_position(known_nos, c.no)] IS NOT TRUE
       AND (lane.holder IS NULL OR lane.holder = me OR lane.held_until <= at)
     ORDER BY c.no FOR NO KEY UPDATE OF lane
  ), taken AS (
    UPDATE webhook_lanes lane SET holder = me, held_until = until FROM free WHERE lane.webhook_no = free.webhook_no
    RETURNING lane.webhook_no, free.holder <> me AS expired
  )
  SELECT array_agg(c.no) FILTER (WHERE known_held[array_position(known_nos, c.no)] OR taken.webhook_no IS NOT NULL),
         array_agg(c.no) FILTER (WHERE taken.expired)
    INTO candidates, expired
    FROM unnest(candidates) AS c (no) LEFT JOIN taken ON taken.webhook_no = c.no;

  RETURN QUERY
  SELECT w.no, w.version, due.sequence, due.tries, e.payload, e.accepted_at, coalesce(w.no = ANY (expired), false)
    FROM unnest(candidates) AS c (no)
    JOIN webhooks w ON w.no = c.no
   -- OFFSET 0 keeps this from being worked out again for every row.
   CROSS JOIN LATERAL (
     SELECT known_lasts[i] AS last, coalesce(held[i], '{}')::int8multirange AS under_way,
            coalesce(known_rooms[i], usual_room) AS room
       FROM array_position(known_nos, c.no) AS i OFFSET 0) AS known
   CROSS JOIN LATERAL (
     (SELECT d.sequence, d.tries, d.event_no FROM deliveries d
       WHERE known.last IS NULL AND d.webhook_no = c.no AND d.state = 'due' AND d.due_at <= at
         AND NOT known.under_way @> d.sequence
       ORDER BY d.due_at, d.sequence LIMIT known.room)
     UNION ALL
     (SELECT d.sequence, d.tries, d.event_no FROM deliveries d
       WHERE d.webhook_no = c.no AND d.sequence > known.last AND d.state || '' = 'due' AND d.due_at <= at
       ORDER BY d.sequence LIMIT known.room)
   ) AS due
    JOIN events e ON e.no = due.event_no
   LIMIT deliveries_max;
END $$;

-- Holds lanes for longer; tells which of them the worker still has.
CREATE OR REPLACE FUNCTION renew_lanes(me bigint, until timestamptz, nos integer[]) RETURNS SETOF integer LANGUAGE plpgsql
  SET enable_seqscan = off
AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  PERFORM FROM webhook_lanes WHERE webhook_no = ANY (nos) ORDER BY webhook_no FOR NO KEY UPDATE;
  RETURN QUERY UPDATE webhook_lanes SET held_until = until WHERE webhook_no = ANY (nos) AND holder = me RETURNING webhook_no;
END $$;

-- When a worker ends in an orderly way, or cannot serve a webhook, others need not wait until its lease runs out. `nos`:
-- null for all of its lanes.
CREATE OR REPLACE FUNCTION free_lanes(me bigint, nos integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  PERFORM FROM webhook_lanes WHERE holder = me ORDER BY webhook_no FOR NO KEY UPDATE;
  UPDATE webhook_lanes SET holder = NULL, held_until = NULL
   WHERE holder = me AND (nos IS NULL OR webhook_no = ANY (nos));
END $$;

-- A worker that is alive holds an advisory lock, its number added to `base`. The lanes of one that does not are free; how
-- many those were. This saves the time until their leases run out.
CREATE OR REPLACE FUNCTION free_lanes_of_the_dead(me bigint, base bigint) RETURNS integer LANGUAGE plpgsql
  SET enable_seqscan = off
AS $$
DECLARE
  dead  bigint[];
  freed integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  SELECT array_agg(DISTINCT lane.holder) INTO dead FROM webhook_lanes lane WHERE lane.holder IS NOT NULL AND lane.holder <> me;
  IF dead IS NULL THEN
    RETURN 0;
  END IF;
  SELECT array_agg(holder) INTO dead FROM unnest(dead) AS holder
   WHERE NOT EXISTS (SELECT FROM pg_locks
                      WHERE locktype = 'advisory' AND objsubid = 1
                        AND (classid::bigint << 32) + objid::bigint = base + holder);
  PERFORM FROM webhook_lanes WHERE holder = ANY (dead) ORDER BY webhook_no FOR NO KEY UPDATE;
  UPDATE webhook_lanes SET holder = NULL, held_until = NULL WHERE holder = ANY (dead);
  GET DIAGNOSTICS freed = ROW_COUNT;
  RETURN freed;
END $$;

-- Writes what became of deliveries, and tells how their webhooks are doing and how many deliveries it woke. A failure from
-- a worker that no longer holds the lane is not written, for another one is at it; a success is, for it has been received.
-- Nor is one written twice: that is what `tries_before` is for. When an event is finished, the next one about its object is due.
-- `states`: delivered; failed: given up; due: to be tried again at `due_ats`. `attempt_texts`: line by line, each a JSON array of one.
CREATE OR REPLACE FUNCTION record_results(
  at timestamptz, me bigint, webhook_nos integer[], sequences bigint[], tries_before integer[], states text[],
  due_ats timestamptz[], attempt_texts text
) RETURNS TABLE (webhook_no integer, failures integer, failing_since timestamptz, woken integer) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  mine        integer[];
  done_nos    integer[];
  done_hashes bigint[];
  done_states text[];
  woken_count integer := 0;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  SELECT array_agg(locked.webhook_no) FILTER (WHERE locked.holder = me) INTO mine
    FROM (SELECT lane.webhook_no, lane.holder FROM webhook_lanes lane
           WHERE lane.webhook_no = ANY (webhook_nos) ORDER BY lane.webhook_no FOR NO KEY UPDATE) AS locked;

  WITH written AS (
    UPDATE deliveries d
       SET state = r.state,
           due_at = r.due_at,
           tries = d.tries + 1,
           attempts = CASE WHEN coalesce(r.attempt, '') = '' THEN d.attempts
                           WHEN d.attempts = '[]' THEN r.attempt::jsonb
                           WHEN jsonb_array_length(d.attempts) < 50 THEN d.attempts || r.attempt::jsonb
                           ELSE (d.attempts - 0) || r.attempt::jsonb END,
           finished_at = CASE WHEN r.state IN ('delivered', 'failed') THEN record_results.at END
      FROM unnest(webhook_nos, sequences, tries_before, states, due_ats, string_to_array(attempt_texts, E'\n'))
           AS r (webhook_no, sequence, tries, state, due_at, attempt)
     -- The state is disguised to keep the planner from reading all that is due of a webhook for each result, which looks
     -- cheap to it as long as its statistics are from a time when little was.
     WHERE d.webhook_no = r.webhook_no AND d.sequence = r.sequence AND d.state || '' = 'due'
       AND (r.state = 'delivered' OR (d.tries = r.tries AND r.webhook_no = ANY (mine)))
    RETURNING d.webhook_no, d.object_hash, r.state
  )
  SELECT array_agg(webhook_no), array_agg(object_hash), array_agg(state) INTO done_nos, done_hashes, done_states
    FROM written;

  -- Most objects have one event at a time. A look whether anything waits at all spares most batches the search, 8 µs a delivery.
  IF EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = ANY (webhook_nos) AND d.state = 'waiting') THEN
    UPDATE deliveries d SET state = 'due', due_at = record_results.at
      FROM (SELECT DISTINCT no, hash FROM unnest(done_nos, done_hashes, done_states) AS done (no, hash, state)
             WHERE state IN ('delivered', 'failed')) AS done
     CROSS JOIN LATERAL (
       -- "due" comes before "waiting": as long as one is due, none is woken.
       SELECT o.sequence, o.state FROM deliveries o
        WHERE o.webhook_no = done.no AND o.object_hash = done.hash AND o.state IN ('waiting', 'due')
        ORDER BY o.state, o.sequence LIMIT 1
     ) AS next
     WHERE next.state = 'waiting' AND d.webhook_no = done.no AND d.sequence = next.sequence;
    GET DIAGNOSTICS woken_count = ROW_COUNT;
  END IF;

  RETURN QUERY
  UPDATE webhook_lanes lane
     SET failures = CASE WHEN succeeded THEN 0 ELSE lane.failures + failed END,
         failing_since = CASE WHEN succeeded THEN NULL ELSE coalesce(lane.failing_since, record_results.at) END,
         last_success_at = CASE WHEN succeeded THEN record_results.at ELSE lane.last_success_at END
    FROM (SELECT no, bool_or(state = 'delivered') AS succeeded,
                 (count(*) FILTER (WHERE state <> 'delivered'))::integer AS failed
            FROM unnest(done_nos, done_states) AS done (no, state) GROUP BY no) AS told
   WHERE lane.webhook_no = told.no
  RETURNING lane.webhook_no, lane.failures, lane.failing_since, woken_count;
END $$;

-- Sends events to one webhook again, or for the first time if it never got them: what is finished begins anew with its old
-- name and sequence, what waits for a retry is tried now, what is missing is put into the queue. Tells how many that were.
CREATE OR REPLACE FUNCTION replay_deliveries(at timestamptz, webhook integer, event_nos bigint[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  again   integer;
  missing bigint[];
BEGIN
  PERFORM FROM webhook_lanes WHERE webhook_no = webhook FOR NO KEY UPDATE;
  WITH chosen AS (
    SELECT d.sequence, d.object_hash, d.state IN ('delivered', 'failed') AS finished,
           row_number() OVER (PARTITION BY d.object_hash, d.state IN ('delivered', 'failed') ORDER BY d.sequence) AS place
      FROM unnest(event_nos) AS wanted (no)
      JOIN deliveries d ON d.event_no = wanted.no AND d.webhook_no = webhook
  ), restarted AS (
    UPDATE deliveries d
       SET state = CASE WHEN NOT finished THEN d.state
                        WHEN place > 1 OR EXISTS (SELECT FROM deliveries o
                                                   WHERE o.webhook_no = webhook AND o.object_hash = d.object_hash
                                                     AND o.state IN ('waiting', 'due')) THEN 'waiting'
                        ELSE 'due' END,
           due_at = at,
           tries = CASE WHEN finished THEN 0 ELSE d.tries END,
           finished_at = NULL
      FROM chosen WHERE d.webhook_no = webhook AND d.sequence = chosen.sequence
    RETURNING 1
  )
  SELECT count(*) INTO again FROM restarted;

  -- What has no place in the feed yet is still to be fanned out, and comes by itself.
  SELECT array_agg(e.no ORDER BY e.no) INTO missing
    FROM unnest(event_nos) AS wanted (no) JOIN events e ON e.no = wanted.no AND e.position IS NOT NULL
   WHERE NOT EXISTS (SELECT FROM deliveries d WHERE d.event_no = wanted.no AND d.webhook_no = webhook);
  IF missing IS NOT NULL THEN
    again := again + enqueue(at, missing, ARRAY[webhook]);
  END IF;
  RETURN again;
END $$;

-- What is older than `before` goes, a bounded number of rows with each call, oldest first and without a look at the rest.
-- A delivery that is still open by then (its webhook was paused for as long) goes too, together with all that wait behind
-- it, for they are as old or will be. Tells how many rows went; zero means that nothing is left to do now.
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
                                  JOIN deliveries d ON d.event_no = gone.no WHERE d.state = 'due')
      ORDER BY lane.webhook_no FOR NO KEY UPDATE;
    WITH gone AS (
      DELETE FROM deliveries d USING unnest(event_nos) AS old (no) WHERE d.event_no = old.no
      RETURNING d.webhook_no, d.object_hash, d.state, d.sequence
    ), freed AS (
      SELECT DISTINCT ON (o.webhook_no, o.object_hash) o.webhook_no, o.sequence
        FROM gone JOIN deliveries o ON o.webhook_no = gone.webhook_no AND o.object_hash = gone.object_hash
         AND o.state = 'waiting' AND o.event_no <> ALL (event_nos)
       WHERE gone.state = 'due' ORDER BY o.webhook_no, o.object_hash, o.sequence
    ), woken AS (
      UPDATE deliveries d SET state = 'due', due_at = before FROM freed
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
