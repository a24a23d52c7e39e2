-- The webhooks that something is queued for since before `created_before`, with when the first of it was put into the queue.
--
-- Guarantees: it costs what is queued, not what was ever delivered: of each lane with something new, and of each with something set aside,
-- the first one is read (how plans are kept on the way is told in migrations/0001_baseline.sql, Deliveries). What a replay has put back
-- and nobody has tried since is not late. `is_unclaimed`: it was never tried, and no worker has the lane.
CREATE OR REPLACE FUNCTION late_lanes(at timestamptz, created_before timestamptz)
  RETURNS TABLE (webhook_no integer, oldest timestamptz, is_unclaimed boolean) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_sort = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  at := shared_now(at);
  RETURN QUERY
  WITH RECURSIVE aside AS (
    (SELECT d.webhook_no AS no, d.created_at, d.tries = 0 AND d.attempts::text <> '[]' AS is_replayed FROM deliveries d
      WHERE d.retry_at IS NOT NULL
      ORDER BY least(d.webhook_no, 2147483647), d.sequence LIMIT 1)
    UNION ALL
    SELECT next.no, next.created_at, next.is_replayed FROM aside CROSS JOIN LATERAL (
      SELECT d.webhook_no AS no, d.created_at, d.tries = 0 AND d.attempts::text <> '[]' AS is_replayed FROM deliveries d
       WHERE d.retry_at IS NOT NULL AND least(d.webhook_no, 2147483647) > aside.no
       ORDER BY least(d.webhook_no, 2147483647), d.sequence LIMIT 1) AS next
  ), first AS (
    SELECT aside.no, aside.created_at, false AS is_unclaimed FROM aside WHERE NOT aside.is_replayed
    UNION ALL
    SELECT lane.webhook_no, d.created_at, coalesce(lane.held_until < at, true)
      FROM webhook_lanes lane
     CROSS JOIN LATERAL (SELECT d.created_at FROM deliveries d
                          WHERE d.webhook_no = lane.webhook_no AND d.sequence >= lane.open_from AND d.state = 'due' AND d.retry_at IS NULL
                          ORDER BY d.sequence LIMIT 1) AS d
     WHERE lane.has_new
  )
  SELECT first.no, min(first.created_at), bool_or(first.is_unclaimed)
    FROM first WHERE first.created_at < created_before GROUP BY first.no;
END $$;
