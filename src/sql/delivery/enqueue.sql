-- Puts events into the queues of webhooks, as `enqueue_2` does. A webhook for all practice groups of a partner gets those of each group that it
-- wants; whoever calls has asked whether its partner may receive them. A test event goes to the webhook that it is for.
CREATE OR REPLACE FUNCTION enqueue(at timestamptz, event_nos bigint[], webhook_nos integer[]) RETURNS integer LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
DECLARE
  wide_nos    integer[];
  wide_groups text[];
BEGIN
  SELECT array_agg(w.no), array_agg(g.id) INTO wide_nos, wide_groups
    FROM webhooks w
   CROSS JOIN (SELECT practice_group_id AS id, array_agg(only_webhook_no) AS only_nos FROM events
                WHERE events.no = ANY (event_nos) GROUP BY practice_group_id) AS g
   WHERE w.no = ANY (webhook_nos) AND w.audience = 'partner'
     AND (w.only_group_ids IS NULL OR g.id = ANY (w.only_group_ids) OR w.no = ANY (g.only_nos));
  RETURN enqueue_2(at, event_nos, webhook_nos, wide_nos, wide_groups);
END $$;
