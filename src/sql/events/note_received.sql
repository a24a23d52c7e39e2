-- Writes into the access log what these deliveries tell of what partners received, because they are about to be cleared away. An attempt that got
-- as far as sending has told the receiver, whatever it answered. What was sent before `since` is too old for the log as well.
CREATE OR REPLACE FUNCTION note_received(at timestamptz, since timestamptz, places tid[]) RETURNS void LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  entries text;
BEGIN
  SELECT string_agg(json_build_object(
           'kind', 'received', 'actor', json_build_object('type', 'partner', 'id', w.partner_id, 'partner_id', w.partner_id),
           'operation', 'deliver', 'practice_group_id', e.practice_group_id, 'object', e.payload::json ->> 'object',
           'object_id', e.object_id, 'event_id', e.id, 'event', e.event, 'webhook_id', w.id, 'sequence', d.sequence,
           'accepted_ms', (date_part('epoch', e.accepted_at) * 1000)::bigint, 'first_position', NULL, 'last_position', NULL,
           'event_types', NULL, 'count', sent.count, 'first_at', sent.first_at, 'last_at', sent.last_at,
           'salt', gen_random_uuid())::text, E'\n')
    INTO entries
    FROM (SELECT * FROM deliveries WHERE ctid = ANY (places) AND attempts::text <> '[]' OFFSET 0) AS d
   CROSS JOIN LATERAL (SELECT * FROM events WHERE events.no = d.event_no OFFSET 0) AS e
   CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE webhooks.no = d.webhook_no AND audience <> 'operator' OFFSET 0) AS w
   CROSS JOIN LATERAL (SELECT count(*) AS count, min(a ->> 'at') AS first_at, max(a ->> 'at') AS last_at
                         FROM json_array_elements(d.attempts) AS a
                        WHERE a ->> 'status' IS NOT NULL OR a ->> 'phase' IN ('send', 'answer')) AS sent
   WHERE sent.last_at::timestamptz >= since;
  IF entries IS NOT NULL THEN
    PERFORM append_access_log(at, entries);
  END IF;
END $$;
