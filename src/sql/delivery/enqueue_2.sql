-- Puts events into the queues of webhooks, each only if the webhook wants it. Returns how many deliveries that made.
--
-- Guarantees: the lanes are locked first, in the order of their numbers, so sequences have no gaps and rise in the order of acceptance
-- (`event_nos` are read in their order). The caller holds no lock on a lane. Whether a delivery has to wait for an earlier one about its
-- object is found out when it is claimed: by then most are finished.
--
-- `webhook_nos`: webhooks of one practice group, which get its events. `wide_nos`, `wide_groups`: pairs of a webhook for all practice groups
-- of a partner and a group whose events it gets. To such a webhook objects of two groups are two objects, whatever their IDs.
--
-- Webhooks and events are read once each and joined by hash; nothing else is left for the planner to choose.
CREATE OR REPLACE FUNCTION enqueue_2(
  at timestamptz, event_nos bigint[], webhook_nos integer[], wide_nos integer[], wide_groups text[]
) RETURNS integer LANGUAGE plpgsql
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
    FROM (SELECT webhook_no, last_sequence FROM webhook_lanes WHERE webhook_no = ANY (webhook_nos || wide_nos)
           ORDER BY webhook_no FOR NO KEY UPDATE) AS lane;
  -- A statement of its own, so that it sees what was committed while the lock was waited for.
  WITH hook AS MATERIALIZED (
    -- Those that are deleted are left out below: said here, another index would fit, one with all webhooks in it.
    SELECT no, practice_group_id, partner_id, event_types, deleted_at, lasts[width_bucket(no, nos)] AS last_sequence
      FROM webhooks WHERE no = ANY (nos)
  ), addressed AS MATERIALIZED (
    SELECT hook.*, false AS is_wide FROM hook WHERE practice_group_id IS NOT NULL
    UNION ALL
    SELECT hook.no, pair.group_id, partner_id, event_types, deleted_at, last_sequence, true
      FROM unnest(wide_nos, wide_groups) AS pair (no, group_id) JOIN hook ON hook.no = pair.no
  ), taken AS MATERIALIZED (
    SELECT no, practice_group_id, event, object_hash, only_partner_id, only_webhook_no FROM events WHERE no = ANY (event_nos)
  ), put AS (
    INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
    SELECT hook.no, last_sequence + row_number() OVER (PARTITION BY hook.no ORDER BY taken.no), taken.no,
           CASE WHEN is_wide THEN hashtextextended(practice_group_id, object_hash) ELSE object_hash END, 'due', at
      FROM taken JOIN addressed AS hook USING (practice_group_id)
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
