-- A partner that tries something out causes an event that it alone hears of: in its feed and streams, and through its webhooks.
ALTER TABLE events ADD COLUMN only_partner_id text;

DROP POLICY tenant ON events;
CREATE POLICY tenant ON events
  USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
         AND (only_partner_id IS NULL OR only_partner_id = (SELECT current_setting('porter.partner', true)))));

-- Partners may send an Idempotency-Key with it, and find their own answers again.
DROP POLICY no_tenant ON idempotency_keys;
CREATE POLICY tenant ON idempotency_keys
  USING ((SELECT porter_sees_all()) OR caller_id = (SELECT current_setting('porter.partner', true)));

-- As in 0003, and each event only to those whom it is for.
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
     WHERE (e.event = ANY (w.event_types) AND (e.only_partner_id IS NULL OR e.only_partner_id = w.partner_id))
        OR e.only_webhook_no = w.no
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
