-- The post: what happened, who wants to hear of it, and how far each letter has come.
-- What the delivery engine does with these tables is told in src/delivery/engine.ts.

-- What happened. A row here is the acceptance of an event: it commits together with its cause. `payload` is the exact
-- text that receivers get. `position` is the event's place in the feed, given when it is fanned out, one after the
-- other, so that a reader who goes on from a position misses nothing; `no` cannot serve for that, because rows commit
-- in another order than they are numbered.
CREATE TABLE events (
  no                bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id                text NOT NULL UNIQUE,
  practice_group_id text NOT NULL,
  event             text NOT NULL,
  object_id         text NOT NULL,
  -- Events about one object reach a webhook in order. Two objects that share a hash wait for each other needlessly,
  -- which happens once in a lifetime and harms nobody.
  object_hash       bigint NOT NULL,
  payload           text NOT NULL,
  source_id         text NOT NULL,
  accepted_at       timestamptz NOT NULL,
  position          bigint,
  -- A test event goes to this webhook alone, and not into the feed.
  only_webhook_no   integer
);
CREATE INDEX events_new ON events (no) WHERE position IS NULL AND only_webhook_no IS NULL;
CREATE INDEX events_in_feed ON events (practice_group_id, position) WHERE position IS NOT NULL;

CREATE TABLE feed_head (
  is_head  boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  position bigint NOT NULL
) WITH (fillfactor = 10);
INSERT INTO feed_head (position) VALUES (0);

-- What a call with an Idempotency-Key was answered. `caller_id` is the operator's, so keys of two callers never meet.
CREATE TABLE idempotency_keys (
  caller_id  text NOT NULL,
  key        text NOT NULL,
  body_hash  bytea NOT NULL,
  answer     jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (caller_id, key)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

CREATE TABLE write_to_record_jobs (
  id                text PRIMARY KEY,
  practice_group_id text NOT NULL REFERENCES practice_groups,
  resource          text NOT NULL,
  resource_id       text NOT NULL,
  status            text NOT NULL CHECK (status IN ('queued', 'succeeded', 'failed')),
  failed_attempts   integer NOT NULL DEFAULT 0,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL
);
CREATE INDEX write_to_record_jobs_by_group ON write_to_record_jobs (practice_group_id, id);

CREATE TABLE webhooks (
  no                integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  id                text NOT NULL UNIQUE,
  partner_id        text NOT NULL REFERENCES partners,
  practice_group_id text NOT NULL REFERENCES practice_groups,
  url               text NOT NULL,
  description       text,
  event_types       text[] NOT NULL,
  -- Deliveries to a webhook that is paused (by its owner) or disabled (by the service) queue up and wait.
  status            text NOT NULL CHECK (status IN ('active', 'paused', 'disabled')),
  -- Why it is disabled, in words for people.
  status_reason     text,
  -- Grows with every change, of the secrets too: what a worker remembers of a webhook is good for one version.
  version           integer NOT NULL DEFAULT 1,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL,
  -- Deleted for everybody who asks; its deliveries are cleared away little by little, and then the row.
  deleted_at        timestamptz
);
CREATE INDEX webhooks_by_group ON webhooks (practice_group_id, partner_id, id) WHERE deleted_at IS NULL;

CREATE TABLE webhook_secrets (
  webhook_no integer NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  no         integer GENERATED ALWAYS AS IDENTITY,
  -- AES-256-GCM under the master key with this ID.
  sealed     bytea NOT NULL,
  key_id     text NOT NULL,
  created_at timestamptz NOT NULL,
  -- Null for the newest; one that was rotated out still signs until then.
  expires_at timestamptz,
  PRIMARY KEY (webhook_no, no)
);

-- How a webhook is doing: written with every batch of results, so kept apart from what its owner configures. Its row
-- is also the lock between those who put deliveries into the queue of a webhook and those who take them out. Whoever
-- takes several takes them in the order of their numbers.
CREATE TABLE webhook_lanes (
  webhook_no      integer PRIMARY KEY REFERENCES webhooks ON DELETE CASCADE,
  last_sequence   bigint NOT NULL DEFAULT 0,
  -- Failed attempts since the last success, and when the first of them was.
  failures        integer NOT NULL DEFAULT 0,
  failing_since   timestamptz,
  last_success_at timestamptz,
  -- The worker that sends to this webhook, and until when it may. If it dies, the lane is free again at that time.
  holder          bigint,
  held_until      timestamptz
) WITH (fillfactor = 30);
CREATE INDEX webhook_lanes_held ON webhook_lanes (holder) WHERE holder IS NOT NULL;

-- One event on its way to one webhook. Its name is (webhook, sequence), and `webhook-id` is made of both.
--   waiting    an earlier event about the same object is not finished yet
--   due        to be sent at due_at, by whoever holds the webhook's lane
--   delivered, failed   finished
-- That one is being sent is not written to it: a worker leases the whole lane and knows what it has under way. A lease
-- on each row was one more version of each and took 36 µs a delivery, reading takes 6.
CREATE TABLE deliveries (
  webhook_no  integer NOT NULL,
  sequence    bigint NOT NULL,
  event_no    bigint NOT NULL,
  object_hash bigint NOT NULL,
  state       text NOT NULL CHECK (state IN ('waiting', 'due', 'delivered', 'failed')),
  due_at      timestamptz NOT NULL,
  -- Attempts that count towards giving up; a replay starts again from none.
  tries       smallint NOT NULL DEFAULT 0,
  -- Every attempt as partners see it (contract/attempts.ts): one write instead of two, and nothing to clear away apart.
  attempts    jsonb NOT NULL DEFAULT '[]',
  created_at  timestamptz NOT NULL,
  finished_at timestamptz,
  PRIMARY KEY (webhook_no, sequence)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);
-- At most one for each event and webhook; both who insert see to that under the lock on the lane.
CREATE INDEX deliveries_by_event ON deliveries (event_no, webhook_no);
CREATE INDEX deliveries_due ON deliveries (webhook_no, due_at, sequence) WHERE state = 'due';
CREATE INDEX deliveries_waiting ON deliveries (webhook_no) WHERE state = 'waiting';
CREATE INDEX deliveries_open ON deliveries (webhook_no, object_hash, sequence) WHERE state IN ('waiting', 'due');

-- Calls of partners that were refused, for `GET /v1/requests/{request_id}`.
CREATE TABLE refused_requests (
  partner_id        text NOT NULL,
  request_id        text NOT NULL,
  at                timestamptz NOT NULL,
  key_id            text NOT NULL,
  practice_group_id text,
  method            text NOT NULL,
  path              text NOT NULL,
  operation         text NOT NULL,
  status            smallint NOT NULL,
  body              text NOT NULL
);
CREATE INDEX refused_requests_by_id ON refused_requests (partner_id, request_id, at);
CREATE INDEX refused_requests_by_age ON refused_requests (at);

-- Whether the partner of a webhook may hear of its practice group at this moment: it is verified, and holds a key that is
-- alive and tied to the group, or to another one of a network that holds both.
CREATE FUNCTION may_receive(partner text, group_id text, at timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $$
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
CREATE FUNCTION enqueue(at timestamptz, event_nos bigint[], webhook_nos integer[]) RETURNS integer LANGUAGE plpgsql
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
CREATE FUNCTION fan_out(at timestamptz, events_max integer, OUT taken integer, OUT made integer) LANGUAGE plpgsql
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
CREATE FUNCTION claim_deliveries(
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
CREATE FUNCTION renew_lanes(me bigint, until timestamptz, nos integer[]) RETURNS SETOF integer LANGUAGE plpgsql
  SET enable_seqscan = off
AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  PERFORM FROM webhook_lanes WHERE webhook_no = ANY (nos) ORDER BY webhook_no FOR NO KEY UPDATE;
  RETURN QUERY UPDATE webhook_lanes SET held_until = until WHERE webhook_no = ANY (nos) AND holder = me RETURNING webhook_no;
END $$;

-- When a worker ends in an orderly way, or cannot serve a webhook, others need not wait until its lease runs out. `nos`:
-- null for all of its lanes.
CREATE FUNCTION free_lanes(me bigint, nos integer[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  PERFORM FROM webhook_lanes WHERE holder = me ORDER BY webhook_no FOR NO KEY UPDATE;
  UPDATE webhook_lanes SET holder = NULL, held_until = NULL
   WHERE holder = me AND (nos IS NULL OR webhook_no = ANY (nos));
END $$;

-- A worker that is alive holds an advisory lock, its number added to `base`. The lanes of one that does not are free; how
-- many those were. This saves the time until their leases run out.
CREATE FUNCTION free_lanes_of_the_dead(me bigint, base bigint) RETURNS integer LANGUAGE plpgsql
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
CREATE FUNCTION record_results(
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
CREATE FUNCTION replay_deliveries(at timestamptz, webhook integer, event_nos bigint[]) RETURNS integer LANGUAGE plpgsql
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
CREATE FUNCTION clear_old(before timestamptz, rows_max integer) RETURNS integer LANGUAGE plpgsql
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

-- The second lock on each tenant's door, as in 0001. Webhooks belong to a partner too: of two partners of one practice
-- group neither sees the other's. `porter.partner` names the partner.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['events', 'webhooks', 'webhook_secrets', 'webhook_lanes', 'deliveries',
                              'write_to_record_jobs', 'idempotency_keys', 'refused_requests', 'feed_head'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['write_to_record_jobs', 'idempotency_keys', 'feed_head'] LOOP
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
  FOREACH name IN ARRAY ARRAY['webhook_secrets', 'webhook_lanes', 'deliveries'] LOOP
    EXECUTE format('CREATE POLICY tenant ON %I USING ((SELECT porter_sees_all())
                    OR EXISTS (SELECT FROM webhooks w WHERE w.no = %I.webhook_no))', name, name);
  END LOOP;
END $$;

CREATE POLICY tenant ON events
  USING ((SELECT porter_sees_all()) OR practice_group_id = ANY ((SELECT porter_tenants())::text[]));
CREATE POLICY tenant ON webhooks
  USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
         AND partner_id = (SELECT current_setting('porter.partner', true))));
CREATE POLICY tenant ON refused_requests
  USING ((SELECT porter_sees_all()) OR partner_id = (SELECT current_setting('porter.partner', true)));
