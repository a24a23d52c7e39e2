-- Accepts events that came one by one, and, in the same transaction, fans out what is new and hands to the worker that asks what came of these
-- events: one commit between an event and its first attempt, where there are few of them.
--
-- Guarantees:
-- - The events are accepted as by `accept_events`, whatever becomes of the rest. That is tried in a subtransaction: if another node fans out,
--   if a lane is locked for longer than `lock_timeout`, or if anything else goes wrong, it is undone, the events are announced, and go the usual
--   way (`taken` = -1; -2 for what is nobody's lock, which the server's log tells). Whoever waits that long for an Idempotency-Key is refused
--   (55P03), and nothing was done.
-- - One event, as most come, is inserted, fanned out and claimed without a detour (`hand_over_event`), and is put into the outbox only if that
--   leaves it. Several, and what is left, are fanned out and claimed by `fan_out` and `claim_deliveries_3`. Of
--   these, what is claimed is of the lanes into which the events were just put: they are locked, so a claim that waits for no other lock cannot
--   deadlock with whoever locks lanes in their order.
-- - All of it commits at once. Nobody sees an event that is handed over without its deliveries, numbers and lease.
--
-- `accepted_at` and what follows it: as `at` and the others of `accept_events`. `at` and what follows that: as in `fan_out` and
-- `claim_deliveries_3`. One row tells what `accept_events` and `fan_out` tell, and whether there
-- is more than what was handed over (`is_rest`); the others what was claimed.
CREATE OR REPLACE FUNCTION accept_and_hand_over(
  accepted_at timestamptz, id_lines text, payload_lines text, group_lines text, event_lines text, object_lines text, object_ids text[],
  source_lines text, traceparents text[], keys text[], body_hashes text[], answers text[],
  at timestamptz, me bigint, events_max integer, lease_ms integer, deliveries_max integer, usual_room integer,
  known_nos integer[], known_rooms integer[], known_held boolean[], known_froms bigint[], under_way text
) RETURNS TABLE (
  unknown integer[], repeated integer[], kept_hashes text[], kept_answers text[], taken integer, more boolean, is_rest boolean,
  webhook_no integer, version integer, lease_expired boolean, is_new boolean, sequences text, tries text, behind text,
  event_nos text, object_hashes text, accepted_ms text, payloads text, group_ids text, entitled_ms integer, is_wide boolean
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET lock_timeout = '50ms'
AS $$
#variable_conflict use_column
DECLARE
  one      events;
  numbers  bigint[];
  nos      integer[];
  rooms    integer[];
  held     boolean[];
  froms    bigint[];
  lines    text[] := string_to_array(under_way, E'\n');
  here     text;
BEGIN
  IF cardinality(object_ids) = 1 AND keys IS NULL THEN
    here := set_config('porter.tenant', '*', true);
    INSERT INTO events (id, payload, practice_group_id, event, object_id, object_hash, source, accepted_at, traceparent)
    SELECT id_lines, payload_lines, g.id, event_lines, object_ids[1], hashtextextended(object_lines || ' ' || object_ids[1], 0), source_lines,
           accept_and_hand_over.accepted_at, traceparents[1]
      FROM practice_groups g WHERE g.id = group_lines
    RETURNING * INTO one;
    IF one.no IS NULL THEN
      unknown := '{1}';
    ELSE
      numbers := ARRAY[one.no];
    END IF;
  ELSE
    SELECT put.unknown, put.repeated, put.kept_hashes, put.kept_answers, put.event_nos
      INTO unknown, repeated, kept_hashes, kept_answers, numbers
      FROM put_events(accepted_at, id_lines, payload_lines, group_lines, event_lines, object_lines, object_ids, source_lines, traceparents,
                      keys, body_hashes, answers) AS put;
    IF cardinality(numbers) = 1 THEN
      SELECT * INTO STRICT one FROM events e WHERE e.no = numbers[1];
      DELETE FROM new_events n WHERE n.practice_group_id = one.practice_group_id AND n.first_no = one.no;
    END IF;
  END IF;
  taken := 0;
  more := false;
  IF numbers IS NULL THEN
    RETURN NEXT;
    RETURN;
  END IF;
  BEGIN
    IF one.no IS NOT NULL THEN
      RETURN QUERY SELECT NULL::integer[], NULL::integer[], NULL::text[], NULL::text[], NULL::integer, NULL::boolean, handed.*
        FROM hand_over_event(at, me, one.no, one.practice_group_id, one.event, one.object_hash, one.payload, one.accepted_at, lease_ms, usual_room,
                             known_nos, known_rooms, known_held, known_froms) AS handed;
      IF FOUND THEN
        taken := 1;
      ELSE
        INSERT INTO new_events VALUES (one.practice_group_id, one.no, numbers, one.accepted_at);
      END IF;
    END IF;
    IF taken = 0 THEN
      SELECT f.taken, f.more INTO taken, more FROM fan_out(at, me, events_max) AS f;
      IF taken > 0 THEN
        -- The claim is told of these lanes alone, and of no room in any other.
        SELECT array_agg(lane.no), array_agg(coalesce(known_rooms[lane.place], usual_room)), array_agg(coalesce(known_held[lane.place], false)),
               array_agg(known_froms[lane.place]), string_agg(coalesce(lines[lane.place], '{}'), E'\n')
          INTO nos, rooms, held, froms, here
          FROM (SELECT put.no, place_in(put.no, known_nos) AS place
                  FROM (SELECT DISTINCT d.webhook_no AS no FROM deliveries d
                         WHERE d.event_no = ANY (numbers) ORDER BY d.webhook_no) AS put) AS lane;
      END IF;
      IF nos IS NOT NULL THEN
        RETURN QUERY SELECT NULL::integer[], NULL::integer[], NULL::text[], NULL::text[], NULL::integer, NULL::boolean, NULL::boolean, c.*
          FROM claim_deliveries_3(at, lease_ms, me, 0, deliveries_max, 0, false, nos, rooms, held, froms, here, '{}', false) AS c;
      END IF;
    END IF;
  EXCEPTION
    WHEN lock_not_available OR deadlock_detected THEN
      taken := -1;
    WHEN OTHERS THEN
      RAISE WARNING 'events were accepted and could not be handed over: % (%)', SQLERRM, SQLSTATE;
      taken := -2;
  END;
  IF taken < 0 THEN
    IF one.no IS NOT NULL THEN
      -- It may be there: that another node fans out undoes nothing.
      INSERT INTO new_events VALUES (one.practice_group_id, one.no, numbers, one.accepted_at) ON CONFLICT DO NOTHING;
    END IF;
    PERFORM pg_notify('porter_events', '');
  END IF;
  RETURN NEXT;
END $$;
