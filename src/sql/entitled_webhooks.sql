-- Of these webhooks those that are active and not withheld, each with its version, and for how long from `at` on its partner is taken to be
-- entitled: 0 if it is not, else at most 900 ms, or until its key expires. Whoever takes access away answers 1,010 ms after that is committed,
-- so a delivery that begins within this time begins before that answer, and there is a tenth of a second for the way from the look at
-- the clock to the first byte.
--
-- Asked once for each partner and practice group, however many webhooks they have. These are looked up one by one (OFFSET 0): else all there
-- are were read to have them in the order of their groups.
CREATE OR REPLACE FUNCTION entitled_webhooks(at timestamptz, nos integer[])
RETURNS TABLE (webhook_no integer, version integer, entitled_ms integer) LANGUAGE plpgsql STABLE
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
#variable_conflict use_column
DECLARE
  longest CONSTANT integer := 900;
BEGIN
  at := shared_now(at);
  RETURN QUERY
  WITH pair AS MATERIALIZED (
    SELECT array_agg(w.no) AS nos, array_agg(w.version) AS versions, receives_until(w.partner_id, w.practice_group_id, at) AS until
      FROM unnest(entitled_webhooks.nos) AS asked (no)
     CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE webhooks.no = asked.no OFFSET 0) AS w
     WHERE w.status = 'active' AND w.deleted_at IS NULL AND w.withheld_since IS NULL
     GROUP BY w.partner_id, w.practice_group_id
  )
  SELECT one.no, one.version,
         CASE WHEN pair.until IS NULL THEN 0
              WHEN pair.until > at + longest * interval '1 millisecond' THEN longest
              ELSE floor(extract(epoch FROM pair.until - at) * 1000)::integer END
    FROM pair CROSS JOIN LATERAL unnest(pair.nos, pair.versions) AS one (no, version);
END $$;
