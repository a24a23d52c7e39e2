-- Fans out an event that this transaction has inserted, and hands what came of it to a worker: what `fan_out`, `enqueue_2` and
-- `claim_deliveries_3` do for many at once, in statements as small as one event needs, and without a place in the outbox. For a single
-- event, most of their cost is start-up.
--
-- Guarantees: those of the three. `test/service/events/delivery-hand-over.test.ts` holds the two ways against each other. What this leaves to them has no
-- row, and nothing was done: another node fans out, other events are new, or there are webhooks for several practice groups.
-- - Lanes are locked in the order of their numbers, and webhooks read when they are.
-- - A delivery is handed over if the worker may have the lane, has room, and wants nothing that comes before it. A lane that it takes for its own
--   and that was freed meanwhile is not leased again by stealth: it must find out, and forget what it had of it. If what is handed over is not all
--   (`is_rest`), the other workers are told when it commits.
--
-- The arguments are those of `claim_deliveries_3`; so are the rows. The last one has `is_rest`.
CREATE OR REPLACE FUNCTION hand_over_event(
  at timestamptz, me bigint, event_no bigint, group_id text, event text, object_hash bigint, payload text, accepted_at timestamptz,
  lease_ms integer, usual_room integer,
  known_nos integer[], known_rooms integer[], known_held boolean[], known_froms bigint[]
) RETURNS TABLE (
  is_rest boolean, webhook_no integer, version integer, lease_expired boolean, is_new boolean, sequences text, tries text, behind text,
  event_nos text, object_hashes text, accepted_ms text, payloads text, group_ids text, entitled_ms integer, is_wide boolean
) LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
  longest  CONSTANT integer := 900;
  w        record;
  head     bigint;
  nos      integer[];
  place    integer;
  until    timestamptz;
  held     boolean;
  is_ours  boolean;
  any_rest boolean := false;
BEGIN
  at := shared_now(at);
  IF NOT pg_try_advisory_xact_lock(7205759403793)
     OR EXISTS (SELECT FROM new_events)
     OR EXISTS (SELECT FROM webhooks x WHERE x.audience = 'partner' AND x.deleted_at IS NULL) THEN
    RETURN;
  END IF;
  UPDATE feed_head SET position = position + 1 RETURNING position INTO head;
  IF feed_server() IS DISTINCT FROM (SELECT t.server FROM feed_timelines t ORDER BY t.after DESC LIMIT 1) THEN
    PERFORM begin_timeline(head - 1);
  END IF;
  INSERT INTO feed (event_no, practice_group_id, position, event) VALUES (hand_over_event.event_no, group_id, head, hand_over_event.event);

  nos := ARRAY(SELECT l.webhook_no FROM webhook_lanes l
                WHERE l.webhook_no = ANY (ARRAY(SELECT x.no FROM webhooks x WHERE x.practice_group_id = group_id AND x.deleted_at IS NULL))
                ORDER BY l.webhook_no FOR NO KEY UPDATE);
  FOR w IN
    SELECT x.no, x.partner_id, x.version, x.status = 'active' AND x.withheld_since IS NULL AS is_open,
           l.last_sequence + 1 AS sequence, l.open_from, l.holder, l.held_until
      FROM unnest(nos) AS asked (no)
     CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE webhooks.no = asked.no OFFSET 0) AS x
     CROSS JOIN LATERAL (SELECT * FROM webhook_lanes WHERE webhook_lanes.webhook_no = asked.no OFFSET 0) AS l
     WHERE x.deleted_at IS NULL AND hand_over_event.event = ANY (x.event_types)
  LOOP
    until := receives_until(w.partner_id, group_id, at);
    CONTINUE WHEN until IS NULL;
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
    VALUES (w.no, w.sequence, hand_over_event.event_no, hand_over_event.object_hash, 'due', at);
    place := place_in(w.no, known_nos);
    held := coalesce(known_held[place], false);
    entitled_ms := CASE WHEN until > at + longest * interval '1 millisecond' THEN longest
                        ELSE floor(extract(epoch FROM until - at) * 1000)::integer END;
    is_ours := w.is_open AND entitled_ms > 0 AND coalesce(known_rooms[place], usual_room) > 0
               AND coalesce(known_froms[place], w.open_from) = w.sequence
               AND (w.holder = me OR NOT held AND (w.holder IS NULL OR w.held_until <= at)) IS TRUE;
    IF is_ours AND NOT held THEN
      UPDATE webhook_lanes l SET last_sequence = w.sequence, holder = me, held_until = at + lease_ms * interval '1 ms' WHERE l.webhook_no = w.no;
    ELSE
      UPDATE webhook_lanes l SET last_sequence = w.sequence WHERE l.webhook_no = w.no;
    END IF;
    IF NOT is_ours THEN
      any_rest := true;
      CONTINUE;
    END IF;
    behind := CASE WHEN EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = w.no AND o.object_hash = hand_over_event.object_hash
                                   AND o.retry_at IS NOT NULL AND o.sequence < w.sequence OFFSET 0) THEN w.sequence::text END;
    webhook_no := w.no;
    version := w.version;
    lease_expired := NOT held AND w.holder <> me IS TRUE;
    is_new := true;
    sequences := w.sequence::text;
    event_nos := event_no::text;
    group_ids := group_id;
    is_wide := false;
    RETURN NEXT;
  END LOOP;
  IF any_rest THEN
    PERFORM pg_notify('porter_queue', me::text);
  END IF;

  is_rest := any_rest;
  webhook_no := NULL;
  behind := NULL;
  object_hashes := object_hash::text;
  accepted_ms := (date_part('epoch', accepted_at) * 1000)::bigint::text;
  payloads := payload;
  event_nos := event_no::text;
  group_ids := group_id;
  RETURN NEXT;
END $$;
