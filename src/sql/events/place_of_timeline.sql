-- What is to be known of the timeline that a cursor names: whether it is one of this history (`known`), after which position it ended (`until`,
-- null for the present one), and where the feed ends now (`head`). `cell` is the number of this cell. The end of the feed is nothing that a
-- tenant sees by itself, so the function looks for everybody, tells no more than this, and goes back to whom the transaction is for.
CREATE OR REPLACE FUNCTION place_of_timeline(timeline text, OUT head bigint, OUT cell smallint, OUT known boolean, OUT until bigint)
  LANGUAGE plpgsql
AS $$
DECLARE
  tenant CONSTANT text := current_setting('porter.tenant', true);
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  SELECT position, own.no, t.after IS NOT NULL,
         (SELECT after FROM feed_timelines AS next WHERE next.after > t.after ORDER BY after LIMIT 1)
    INTO head, cell, known, until
    FROM feed_head CROSS JOIN cell AS own LEFT JOIN feed_timelines AS t ON t.id = timeline;
  PERFORM set_config('porter.tenant', coalesce(tenant, ''), true);
END $$;
