-- Of these webhooks those that are active and not withheld, each with its version, and for how long from `at` on its partner is taken to be
-- entitled: 0 if it is not, else at most 900 ms, or until its key expires. Whoever takes access away answers 1,010 ms after that is committed,
-- so a delivery that begins within this time begins before that answer, and there is a tenth of a second for the way from the look at
-- the clock to the first byte.
--
-- `group_ids`, beside `nos`: of a webhook for all practice groups of a partner, the group that is asked about; null asks whether it may receive any
-- at all, and `withhold_groups` then asks for each. Operators' own webhooks are always entitled.
--
-- `is_wide`: what is queued for it is of several practice groups, and the partner may lose one of them. `is_usual`: a node of the version before
-- can serve it.
--
-- Asked once for each partner and practice group, however many webhooks they have. These are looked up one by one (OFFSET 0): else all there
-- are were read to have them in the order of their groups.
CREATE OR REPLACE FUNCTION entitled_webhooks_2(at timestamptz, nos integer[], group_ids text[])
RETURNS TABLE (webhook_no integer, version integer, entitled_ms integer, is_wide boolean, is_usual boolean) LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  longest CONSTANT integer := 900;
BEGIN
  at := shared_now(at);
  RETURN QUERY
  WITH pair AS MATERIALIZED (
    SELECT array_agg(w.no) AS nos, array_agg(w.version) AS versions, w.audience, array_agg(w.header_names = '{}' AND w.signature = 'hmac') AS plain,
           webhook_receives_until(w.audience, w.partner_id, coalesce(w.practice_group_id, asked.group_id), at) AS until
      FROM unnest(entitled_webhooks_2.nos, group_ids) AS asked (no, group_id)
     CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE webhooks.no = asked.no OFFSET 0) AS w
     WHERE w.status = 'active' AND w.deleted_at IS NULL AND w.withheld_since IS NULL
     GROUP BY w.audience, w.partner_id, coalesce(w.practice_group_id, asked.group_id)
  )
  SELECT one.no, one.version,
         CASE WHEN pair.until IS NULL THEN 0
              WHEN pair.until > at + longest * interval '1 millisecond' THEN longest
              ELSE floor(extract(epoch FROM pair.until - at) * 1000)::integer END,
         pair.audience = 'partner', pair.audience = 'practice_group' AND one.plain
    FROM pair CROSS JOIN LATERAL unnest(pair.nos, pair.versions, pair.plain) AS one (no, version, plain);
END $$;
