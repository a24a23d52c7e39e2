-- Fan-out of the transactional outbox: takes new events, gives each its position in the feed, and enqueues it for every webhook that wants
-- it and may receive it now.
--
-- Guarantees:
-- - An event is taken once: it leaves `new_events` in the transaction that enqueues its deliveries.
-- - One node at a time (advisory lock); another gets `taken` = -1 and need not wait. So positions rise in the order of commits, and
--   an event that was accepted before another of its practice group began is enqueued first.
-- - Fair: if not all fit into `events_max`, practice groups have their turns, one row of each (up to 100 events) after the other; the next
--   call goes on after the last one served. A burst of one practice group holds up nobody else. Of a row that does not fit by itself, the first
--   `events_max` are taken.
-- - A position is given by one server once: on another one than before, a new timeline begins (begin_timeline.sql).
--
-- `made`: how many deliveries. `more`: whether new events are left. `me` is told to the other workers, so that whoever did it need not look.
CREATE OR REPLACE FUNCTION fan_out(at timestamptz, me bigint, events_max integer, OUT taken integer, OUT made integer, OUT more boolean)
  LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  few CONSTANT integer := 100;
  places      tid[];
  group_ids   text[];
  firsts      bigint[];
  last_served text;
  is_cut      boolean;
  room        integer;
  event_nos   bigint[];
  webhook_nos integer[];
  wide_nos    integer[];
  wide_groups text[];
  head        bigint;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  at := shared_now(at);
  made := 0;
  more := false;
  IF NOT pg_try_advisory_xact_lock(7205759403793) THEN
    taken := -1;
    RETURN;
  END IF;
  SELECT array_agg(place), coalesce(sum(size), 0) INTO places, taken
    FROM (SELECT ctid AS place, cardinality(new_events.event_nos) AS size FROM new_events ORDER BY practice_group_id LIMIT few + 1) AS first;
  IF taken = 0 THEN
    RETURN;
  END IF;
  IF taken > events_max OR cardinality(places) > few THEN
    WITH RECURSIVE turn AS (
      SELECT first.*, first.id AS began_with, size AS with_it, true AS fits
        FROM feed_head CROSS JOIN LATERAL next_turn(last_group) AS first
      UNION ALL
      SELECT next.*, began_with, with_it + next.size, with_it + next.size <= events_max
        FROM turn CROSS JOIN LATERAL next_turn(turn.id) AS next
       WHERE fits AND next.id <> began_with
    )
    SELECT array_agg(id ORDER BY with_it) FILTER (WHERE fits), array_agg(first_no ORDER BY with_it) FILTER (WHERE fits),
           array_agg(place) FILTER (WHERE fits), events_max - max(with_it) FILTER (WHERE fits), bool_or(NOT fits)
      INTO group_ids, firsts, places, room, is_cut FROM turn;
    last_served := group_ids[cardinality(group_ids)];
    IF NOT is_cut AND room > 0 THEN
      WITH longer AS MATERIALIZED (
        SELECT id, first_no, n FROM unnest(group_ids, firsts) WITH ORDINALITY AS served (id, first_no, n)
         WHERE EXISTS (SELECT FROM new_events WHERE practice_group_id = id AND new_events.first_no > served.first_no OFFSET 0)
      ), listed AS MATERIALIZED (
        SELECT next.*, n, sum(size) OVER (PARTITION BY n ORDER BY next.first_no) - size AS before_of_practice
          FROM longer CROSS JOIN LATERAL (
            SELECT ctid AS place, first_no, cardinality(new_events.event_nos) AS size FROM new_events
             WHERE practice_group_id = longer.id AND new_events.first_no > longer.first_no ORDER BY first_no
             -- Of a few practices all that fits. Of many not more in all than ten times that.
             LIMIT (SELECT least(room, 1 + 10 * room / nullif(count(*), 0)) FROM longer)) AS next
      )
      SELECT places || array_agg(place) INTO places
        FROM (SELECT place, sum(size) OVER (ORDER BY before_of_practice, n) AS with_it FROM listed) AS in_turns WHERE with_it <= room;
    END IF;
    more := true;
  END IF;

  IF room < 0 THEN
    -- One row, and larger than what is to be taken: the rest of it stays, in its place.
    WITH sorted AS MATERIALIZED (
      SELECT ARRAY(SELECT no FROM unnest(new_events.event_nos) AS no ORDER BY no) AS nos FROM new_events WHERE ctid = places[1]
    ), rest AS (
      UPDATE new_events SET first_no = nos[events_max + 1], event_nos = nos[events_max + 1:] FROM sorted WHERE ctid = places[1]
    )
    SELECT nos[:events_max] INTO event_nos FROM sorted;
  ELSE
    WITH gone AS (
      DELETE FROM new_events WHERE ctid = ANY (places) RETURNING practice_group_id, new_events.event_nos
    )
    SELECT (SELECT array_agg(no ORDER BY no) FROM gone CROSS JOIN LATERAL unnest(gone.event_nos) AS no),
           (SELECT array_agg(DISTINCT practice_group_id) FROM gone)
      INTO event_nos, group_ids;
  END IF;
  taken := cardinality(event_nos);
  UPDATE feed_head SET position = position + taken, last_group = coalesce(last_served, last_group) RETURNING position - taken INTO head;
  IF feed_server() IS DISTINCT FROM (SELECT server FROM feed_timelines ORDER BY after DESC LIMIT 1) THEN
    PERFORM begin_timeline(head);
  END IF;
  IF more THEN
    more := EXISTS (SELECT FROM new_events);
  END IF;
  INSERT INTO feed (event_no, practice_group_id, position, event, only_partner_id)
  SELECT no, practice_group_id, head + width_bucket(no, event_nos), event, only_partner_id FROM events WHERE no = ANY (event_nos);

  SELECT array_agg(w.no ORDER BY w.no) INTO webhook_nos
    FROM unnest(group_ids) AS g (id)
   CROSS JOIN LATERAL (SELECT webhooks.no, partner_id FROM webhooks
                        WHERE practice_group_id = g.id AND deleted_at IS NULL OFFSET 0) AS w
   WHERE receives_until(w.partner_id, g.id, at) IS NOT NULL;
  SELECT found.nos, found.for_groups INTO wide_nos, wide_groups FROM partner_webhooks(at, group_ids) AS found;
  IF webhook_nos IS NOT NULL OR wide_nos IS NOT NULL THEN
    made := enqueue_2(at, event_nos, webhook_nos, wide_nos, wide_groups);
  END IF;
  IF made > 0 THEN
    PERFORM pg_notify('porter_queue', me::text);
  END IF;
END $$;
