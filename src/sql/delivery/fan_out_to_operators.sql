-- Fan-out of what is for the operator's systems: gives changes that partners made their position in the feed of changes, and enqueues them, and what
-- was announced (store/events/operator-events.ts), for every webhook of the operator that wants it.
--
-- Guarantees:
-- - A change is placed once: it leaves `new_changes` in the transaction that writes it to the feed and enqueues its deliveries.
-- - One node at a time (advisory lock); another gets `taken` = -1 and need not wait. Positions rise in the order in which the changes
--   were committed: entries of the audit are numbered under a lock that is held until then. They are given under the lock of `feed_head`, as
--   those of events are, so a reader who goes on from a position misses nothing.
-- - Whoever changed something other than through a partner's key is not in the feed.
-- - The event of a change has its ID and its position. Without a webhook that wants it there is none: whoever subscribes later reads the feed.
--
-- `made`: how many deliveries. `more`: whether anything is left. `me` is told to the other workers, so that whoever did it need not look.
CREATE OR REPLACE FUNCTION fan_out_to_operators(
  at timestamptz, me bigint, entries_max integer, OUT taken integer, OUT made integer, OUT more boolean
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  firsts      bigint[];
  lasts       bigint[];
  change_ids  text[];
  changed     integer;
  salt        text;
  announced   bigint[];
  of_changes  bigint[];
  places      bigint[];
  webhook_nos integer[];
  wanted      text[];
  head        bigint;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  at := shared_now(at);
  taken := 0;
  made := 0;
  more := false;
  IF NOT pg_try_advisory_xact_lock(7205759403798) THEN
    taken := -1;
    RETURN;
  END IF;
  WITH gone AS (
    DELETE FROM new_changes WHERE ctid = ANY (ARRAY(
      SELECT id FROM (SELECT ctid AS id, first_seq, sum(last_seq - first_seq + 1) OVER (ORDER BY first_seq) AS with_it,
                             row_number() OVER (ORDER BY first_seq) AS n
                        FROM (SELECT ctid, first_seq, last_seq FROM new_changes ORDER BY first_seq LIMIT entries_max) AS first) AS listed
       WHERE with_it <= entries_max OR n = 1))
    RETURNING first_seq, last_seq, change_id
  )
  SELECT array_agg(first_seq ORDER BY first_seq), array_agg(last_seq ORDER BY first_seq), array_agg(change_id ORDER BY first_seq),
         coalesce(sum(last_seq - first_seq + 1), 0)
    INTO firsts, lasts, change_ids, changed FROM gone;
  WITH gone AS (
    DELETE FROM new_announcements WHERE ctid = ANY (ARRAY(SELECT ctid FROM new_announcements ORDER BY event_no LIMIT entries_max))
    RETURNING event_no
  )
  SELECT array_agg(event_no ORDER BY event_no) INTO announced FROM gone;
  taken := changed + coalesce(cardinality(announced), 0);
  IF taken = 0 THEN
    RETURN;
  END IF;
  more := EXISTS (SELECT FROM new_changes) OR EXISTS (SELECT FROM new_announcements);

  UPDATE feed_head SET position = position + taken RETURNING position - taken INTO head;
  IF feed_server() IS DISTINCT FROM (SELECT server FROM feed_timelines ORDER BY after DESC LIMIT 1) THEN
    PERFORM begin_timeline(head);
  END IF;

  -- The ID is random as well, because a restore takes positions back. Whoever acted without a partner's key is not in `api_keys`.
  salt := left(replace(gen_random_uuid()::text, '-', ''), 16);
  INSERT INTO changes (practice_group_id, position, id, was_proposed, object_id, partner_id, key_id, at, body, state, ended_at)
  SELECT e.practice_group_id, head + e.n, coalesce(part.change_id, 'chg_' || to_hex(head + e.n) || '_' || salt),
         part.change_id IS NOT NULL, e.subject_id, k.partner_id, e.actor_id, e.at, e.body,
         CASE WHEN part.change_id IS NULL THEN 'pending' ELSE 'applied' END, CASE WHEN part.change_id IS NOT NULL THEN e.at END
    FROM (SELECT first, last, change_id, (sum(last - first + 1) OVER (ORDER BY first))::bigint - last AS beyond
            FROM unnest(firsts, lasts, change_ids) AS listed (first, last, change_id)) AS part
   CROSS JOIN LATERAL (SELECT a.*, part.beyond + a.seq AS n FROM audit_entries a
                        WHERE a.seq >= part.first AND a.seq <= part.last ORDER BY a.seq OFFSET 0) AS e
   CROSS JOIN LATERAL (SELECT partner_id FROM api_keys WHERE api_keys.id = e.actor_id OFFSET 0) AS k
   WHERE e.action = 'submission_type.update';

  SELECT array_agg(DISTINCT no ORDER BY no), array_agg(DISTINCT event_type) INTO webhook_nos, wanted
    FROM webhooks CROSS JOIN LATERAL unnest(event_types) AS event_type WHERE audience = 'operator' AND deleted_at IS NULL;
  IF changed > 0 AND 'submission-type.changed' = ANY (wanted) THEN
    WITH made AS (
      INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
      SELECT 'evt_' || c.id, '', 'submission-type.changed', c.object_id,
             hashtextextended('SubmissionType ' || c.practice_group_id || ' ' || c.object_id, 0),
             '{"event":"submission-type.changed","id":' || to_json(c.id) || ',"kind":"submission_type","practice_group_id":'
               || to_json(c.practice_group_id) || ',"object_id":' || to_json(c.object_id) || ',"before":' || (c.body::json -> 'before')
               || ',"after":' || (c.body::json -> 'after') || ',"partner_id":' || to_json(c.partner_id) || ',"key_id":' || to_json(c.key_id)
               || ',"request_id":' || (c.body::json -> 'request_id') || ',"state":' || to_json(c.state) || ',"at":'
               || to_json(to_char(c.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) || '}',
             c.key_id, c.at
        FROM changes c WHERE c.position > head AND c.position <= head + taken ORDER BY c.position
      RETURNING no)
    SELECT array_agg(no ORDER BY no) INTO of_changes FROM made;
    places := ARRAY(SELECT c.position FROM changes c WHERE c.position > head AND c.position <= head + taken ORDER BY c.position);
  END IF;
  INSERT INTO feed (event_no, practice_group_id, position, event)
  SELECT no, '', coalesce(places[n], head + changed + n - coalesce(cardinality(of_changes), 0)), e.event
    FROM unnest(coalesce(of_changes, '{}') || coalesce(announced, '{}')) WITH ORDINALITY AS placed (event_no, n)
   CROSS JOIN LATERAL (SELECT no, event FROM events WHERE events.no = placed.event_no OFFSET 0) AS e;
  IF webhook_nos IS NOT NULL AND (of_changes IS NOT NULL OR announced IS NOT NULL) THEN
    made := enqueue_for_operators(at, coalesce(of_changes, '{}') || coalesce(announced, '{}'), webhook_nos);
  END IF;
  IF made > 0 THEN
    PERFORM pg_notify('porter_queue', me::text);
  END IF;
END $$;
