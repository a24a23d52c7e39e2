-- Takes an object's identifiers out of a stretch of a practice group's events, newest first: out of at most `rows_max` that have a place in
-- the feed before `before_position`, and, when that is null, out of those that have none yet.
--
-- Guarantees: the events about the object, and those whose resource it is, get the erasure's ID in its place, in the payload, in the
-- columns and in the hash that orders deliveries; what is free text is dropped. They are shown in the feed no more. What was still queued
-- is withdrawn, with the reason in its log, and what waited behind it goes on. Workers drop what they have fetched ahead of the webhooks concerned
-- (their version grows). The answers of receivers are dropped. The same call made again is refused, not done again (idempotency keys).
-- Webhooks are locked before lanes, and both in the order of their numbers, as everybody does.
--
-- `next_position`: where to go on; null when nothing is left. `recipients`: [{partner_id, deliveries, under_way, reads, last_at}], whoever was sent any of them,
-- or may have been: of the deliveries that are `under_way`, nobody knows yet.
-- `places`: [{position, event}], where they stand in the feed.
CREATE OR REPLACE FUNCTION erase_events_2(
  at timestamptz, group_id text, object text, object_id text, pseudonym text, before_position bigint, rows_max integer, withdrawal text,
  OUT next_position bigint, OUT events_erased integer, OUT deliveries_erased integer, OUT deliveries_withdrawn integer,
  OUT idempotency_keys_erased integer, OUT recipients json, OUT places json
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_variable
DECLARE
  nos         bigint[];
  new_nos     bigint[];
  looked_at   integer;
  webhook_nos integer[];
  open_nos    integer[];
  hashes      bigint[];
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  events_erased := 0;
  deliveries_erased := 0;
  deliveries_withdrawn := 0;
  idempotency_keys_erased := 0;
  IF before_position IS NULL THEN
    -- Nothing is fanned out meanwhile: what has no place yet would otherwise get one behind our back.
    PERFORM pg_advisory_xact_lock(7205759403793);
    new_nos := ARRAY(SELECT unnest(n.event_nos) FROM new_events n WHERE n.practice_group_id = group_id);
  END IF;
  SELECT array_agg(event_no), count(*), min(position) INTO nos, looked_at, next_position
    FROM (SELECT f.event_no, f.position FROM feed f
           WHERE f.practice_group_id = group_id AND f.position < coalesce(before_position, 9223372036854775807)
           ORDER BY f.position DESC LIMIT rows_max) AS stretch;
  IF looked_at < rows_max THEN
    next_position := NULL;
  END IF;
  nos := ARRAY(
    SELECT e.no FROM events e
     WHERE e.no = ANY (coalesce(nos, '{}') || coalesce(new_nos, '{}')) AND e.erased_by IS DISTINCT FROM pseudonym
       AND ((e.object_id = object_id AND e.payload::json ->> 'object' = object)
         OR (e.payload::json ->> 'resource_id' = object_id AND lower(e.payload::json ->> 'resource') = lower(object)))
     ORDER BY e.no FOR UPDATE);
  IF nos = '{}' THEN
    RETURN;
  END IF;
  events_erased := cardinality(nos);
  SELECT json_agg(json_build_object('position', f.position, 'event', f.event)) INTO places FROM feed f WHERE f.event_no = ANY (nos);

  SELECT array_agg(DISTINCT d.webhook_no ORDER BY d.webhook_no),
         array_agg(DISTINCT d.webhook_no ORDER BY d.webhook_no) FILTER (WHERE d.state NOT IN ('delivered', 'failed'))
    INTO webhook_nos, open_nos FROM deliveries d WHERE d.event_no = ANY (nos);
  PERFORM FROM webhooks w WHERE w.no = ANY (open_nos) ORDER BY w.no FOR NO KEY UPDATE;
  UPDATE webhooks w SET version = w.version + 1 WHERE w.no = ANY (open_nos);
  PERFORM FROM webhook_lanes l WHERE l.webhook_no = ANY (webhook_nos) ORDER BY l.webhook_no FOR NO KEY UPDATE;

  -- Nobody writes down that an attempt begins. So what was due while a worker had the lane may have been sent, and its result comes too late.
  SELECT json_agg(json_build_object('partner_id', told.partner_id, 'deliveries', told.deliveries, 'under_way', told.under_way, 'reads', 0,
                                    'last_at', told.last_at)) INTO recipients
    FROM (SELECT w.partner_id, count(was.last_at) AS deliveries, count(*) - count(was.last_at) AS under_way,
                 max(coalesce(was.last_at, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))) AS last_at
            FROM deliveries d
           CROSS JOIN LATERAL (SELECT x.partner_id FROM webhooks x WHERE x.no = d.webhook_no OFFSET 0) AS w
           CROSS JOIN LATERAL (SELECT l.held_until FROM webhook_lanes l WHERE l.webhook_no = d.webhook_no OFFSET 0) AS lane
           CROSS JOIN LATERAL (SELECT max(a ->> 'at') AS last_at FROM json_array_elements(d.attempts) AS a
                                WHERE a ->> 'status' IS NOT NULL OR a ->> 'phase' IN ('send', 'answer')) AS was
           WHERE d.event_no = ANY (nos)
             AND (was.last_at IS NOT NULL OR (d.state = 'due' AND coalesce(d.retry_at, d.created_at) < lane.held_until))
           GROUP BY w.partner_id) AS told;

  WITH withdrawn AS (
    UPDATE deliveries d
       SET state = 'failed', retry_at = NULL, finished_at = at, attempts = with_attempt(d.attempts, withdrawal)
     WHERE d.event_no = ANY (nos) AND d.state NOT IN ('delivered', 'failed')
    RETURNING d.webhook_no, d.object_hash)
  SELECT count(*), array_agg(webhook_no), array_agg(object_hash) INTO deliveries_withdrawn, open_nos, hashes FROM withdrawn;
  UPDATE deliveries d SET state = 'due', retry_at = at
    FROM (SELECT DISTINCT no, hash FROM unnest(open_nos, hashes) AS freed (no, hash)) AS freed
   CROSS JOIN LATERAL (SELECT o.ctid AS id, o.state FROM deliveries o
                        WHERE greatest(o.webhook_no, 0) = freed.no AND o.object_hash = freed.hash AND o.retry_at IS NOT NULL
                        ORDER BY o.state, o.sequence LIMIT 1) AS next
   WHERE next.state = 'waiting' AND d.ctid = next.id;

  -- What a receiver answered may repeat what it was told.
  UPDATE deliveries d
     SET object_hash = hashtextextended('erased ' || pseudonym, 0),
         attempts = coalesce((SELECT json_agg(CASE WHEN kept.a ->> 'answer' IS NULL THEN kept.a
                                                   ELSE (kept.a::jsonb || '{"answer": null}')::json END ORDER BY kept.n)
                                FROM json_array_elements(d.attempts) WITH ORDINALITY AS kept (a, n)), '[]')
   WHERE d.event_no = ANY (nos);
  GET DIAGNOSTICS deliveries_erased = ROW_COUNT;

  UPDATE idempotency_keys k SET body_hash = ''
    FROM (SELECT e.id, e.source, e.accepted_at FROM events e WHERE e.no = ANY (nos)) AS e
   WHERE k.created_at BETWEEN e.accepted_at - interval '1 minute' AND e.accepted_at + interval '1 minute'
     AND k.caller_id = e.source AND k.answer -> 'event_ids' ? e.id;
  GET DIAGNOSTICS idempotency_keys_erased = ROW_COUNT;

  UPDATE events e
     SET erased_by = pseudonym, object_hash = hashtextextended('erased ' || pseudonym, 0),
         object_id = CASE WHEN e.object_id = object_id AND e.payload::json ->> 'object' = object THEN pseudonym ELSE e.object_id END,
         payload = ((e.payload::jsonb - 'failure_reason')
           || CASE WHEN e.object_id = object_id AND e.payload::json ->> 'object' = object
                   THEN jsonb_build_object('id', pseudonym) ELSE '{}' END
           || CASE WHEN e.payload::json ->> 'resource_id' = object_id AND lower(e.payload::json ->> 'resource') = lower(object)
                   THEN jsonb_build_object('resource_id', pseudonym) ELSE '{}' END)::text,
         -- For nobody: what is not fanned out yet goes to no webhook.
         only_partner_id = CASE WHEN e.no = ANY (new_nos) THEN pseudonym ELSE e.only_partner_id END
   WHERE e.no = ANY (nos);
  UPDATE feed f SET only_partner_id = pseudonym WHERE f.event_no = ANY (nos);
  IF deliveries_withdrawn > 0 THEN
    PERFORM pg_notify('porter_deliveries', '');
  END IF;
END $$;
