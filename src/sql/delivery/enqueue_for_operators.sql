-- Puts events for the operator's systems into the queues of the operator's own webhooks, each only if the webhook wants it. Returns how many
-- deliveries that made.
--
-- Guarantees: those of src/sql/delivery/enqueue_2.sql. The lanes are locked first, in the order of their numbers, so sequences have no gaps and rise in
-- the order of `event_nos`; the caller holds no lock on a lane. Nothing of a partner's or a practice's goes this way, and none of their webhooks
-- is looked at.
CREATE OR REPLACE FUNCTION enqueue_for_operators(at timestamptz, event_nos bigint[], webhook_nos integer[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_nestloop = off SET enable_mergejoin = off
AS $$
DECLARE
  nos    integer[];
  lasts  bigint[];
  counts bigint[];
  made   integer;
BEGIN
  at := shared_now(at);
  SELECT array_agg(lane.webhook_no), array_agg(lane.last_sequence) INTO nos, lasts
    FROM (SELECT webhook_no, last_sequence FROM webhook_lanes WHERE webhook_no = ANY (webhook_nos)
           ORDER BY webhook_no FOR NO KEY UPDATE) AS lane;
  -- A statement of its own, so that it sees what was committed while the lock was waited for.
  WITH hook AS MATERIALIZED (
    SELECT no, audience, event_types, deleted_at, lasts[width_bucket(no, nos)] AS last_sequence FROM webhooks WHERE no = ANY (nos)
  ), taken AS MATERIALIZED (
    SELECT no, practice_group_id, event, object_hash, only_webhook_no FROM events WHERE no = ANY (event_nos)
  ), put AS (
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
    SELECT hook.no, last_sequence + row_number() OVER (PARTITION BY hook.no ORDER BY taken.no), taken.no, object_hash, 'due', at
      FROM taken CROSS JOIN hook
     WHERE audience = 'operator' AND practice_group_id = '' AND deleted_at IS NULL
       AND ((event = ANY (event_types) AND only_webhook_no IS NULL) OR only_webhook_no = hook.no)
     ORDER BY taken.no, hook.no
    RETURNING webhook_no
  )
  SELECT array_agg(webhook_no ORDER BY webhook_no), array_agg(count ORDER BY webhook_no), coalesce(sum(count), 0)
    INTO nos, counts, made
    FROM (SELECT webhook_no, count(*) FROM put GROUP BY webhook_no) AS counted;
  UPDATE webhook_lanes SET last_sequence = last_sequence + counts[width_bucket(webhook_no, nos)] WHERE webhook_no = ANY (nos);
  RETURN made;
END $$;
