-- The webhooks for all practice groups of a partner that receive the events of these groups at this moment: a pair for each webhook and group.
--
-- They are found by the partners that have keys for a group, or for one that shares a network with it; whether one may receive is for
-- `receives_until` to say. A network is gone through once, however many of the groups are in it.
CREATE OR REPLACE FUNCTION partner_webhooks(at timestamptz, group_ids text[], OUT nos integer[], OUT for_groups text[]) LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_mergejoin = off
AS $$
BEGIN
  -- In most houses there is none, and a look at the index is all that this costs.
  IF NOT EXISTS (SELECT FROM webhooks WHERE audience = 'partner' AND deleted_at IS NULL) THEN
    RETURN;
  END IF;
  WITH mine AS MATERIALIZED (
    SELECT g.id, m.network_id FROM unnest(group_ids) AS g (id)
     CROSS JOIN LATERAL (SELECT network_id FROM network_members WHERE practice_group_id = g.id OFFSET 0) AS m
  ), in_network AS MATERIALIZED (
    SELECT DISTINCT n.network_id, k.partner_id FROM (SELECT DISTINCT network_id FROM mine) AS n
     CROSS JOIN LATERAL (SELECT practice_group_id FROM network_members WHERE network_members.network_id = n.network_id OFFSET 0) AS theirs
     CROSS JOIN LATERAL (SELECT partner_id FROM api_keys
                          WHERE practice_group_id = theirs.practice_group_id AND revoked_at IS NULL OFFSET 0) AS k
  ), near AS MATERIALIZED (
    SELECT g.id, k.partner_id FROM unnest(group_ids) AS g (id)
     CROSS JOIN LATERAL (SELECT partner_id FROM api_keys WHERE practice_group_id = g.id AND revoked_at IS NULL OFFSET 0) AS k
    UNION
    SELECT mine.id, in_network.partner_id FROM mine JOIN in_network USING (network_id)
  ), pair AS MATERIALIZED (
    SELECT w.no, near.id, near.partner_id FROM near
     CROSS JOIN LATERAL (SELECT no, only_group_ids FROM webhooks
                          WHERE partner_id = near.partner_id AND audience = 'partner' AND deleted_at IS NULL OFFSET 0) AS w
     WHERE w.only_group_ids IS NULL OR near.id = ANY (w.only_group_ids)
  )
  SELECT array_agg(pair.no), array_agg(pair.id) INTO nos, for_groups FROM pair WHERE receives_until(pair.partner_id, pair.id, at) IS NOT NULL;
END $$;
