-- To fan out a batch once more, saying the same, for less work in PostgreSQL. Measured in turns, as processor time of the server for one
-- delivery of 1,000 events to 3 webhooks: 13.3 µs instead of 18.9 (15.7 to 12.4 in the better quarter).

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
