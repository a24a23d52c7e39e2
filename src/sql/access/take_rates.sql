-- The sliding rate window that nodes share: lets through as many of the wanted calls of each key as its limit allows.
--
-- Guarantees: never more than the limit in any span, whichever node a call comes to. The window's row is locked before the time is asked, so time
-- never goes back in a window; if the server's clock is set back, time stands still in it for up to a span, and after that it begins anew.
--
-- The first `granted` calls of a question pass; `used` were counted before. `oldest_us`: how long ago the oldest call was that counts;
-- `blocking_us`: how long ago the one was that has to leave before there is room again.
CREATE OR REPLACE FUNCTION take_rates(given_us bigint, span_us bigint, keys text[], limits integer[], wanted integer[])
RETURNS TABLE (place integer, used integer, granted integer, oldest_us bigint, blocking_us bigint) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  asked   record;
  before  bigint;
  left_at bigint;
  now_us  bigint;
  last_us bigint;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  FOR asked IN
    SELECT * FROM unnest(keys, limits, wanted) WITH ORDINALITY AS a (key, most, calls, no) ORDER BY key, no
  LOOP
    INSERT INTO rate_windows AS w VALUES (asked.key, 0, 0)
      ON CONFLICT (key_id) DO UPDATE SET total = w.total RETURNING w.total, w.at_us INTO before, last_us;
    now_us := rate_clock_us(given_us);
    IF last_us - now_us > span_us THEN
      DELETE FROM rate_moments m WHERE m.key_id = asked.key;
      before := 0;
      last_us := now_us;
    END IF;
    last_us := greatest(last_us, now_us);
    SELECT m.total INTO left_at FROM rate_moments m
     WHERE m.key_id = asked.key AND m.at_us <= last_us - span_us ORDER BY m.at_us DESC, m.total DESC LIMIT 1;
    left_at := coalesce(left_at, 0);
    place := asked.no;
    used := before - left_at;
    granted := greatest(0, least(asked.calls, asked.most - used));
    UPDATE rate_windows w SET total = before + granted, at_us = last_us WHERE w.key_id = asked.key;
    IF granted > 0 THEN
      INSERT INTO rate_moments VALUES (asked.key, before + granted, last_us);
      DELETE FROM rate_moments m WHERE m.key_id = asked.key AND m.total < left_at;
    END IF;
    SELECT now_us - m.at_us INTO oldest_us FROM rate_moments m
     WHERE m.key_id = asked.key AND m.total > left_at ORDER BY m.total LIMIT 1;
    SELECT now_us - m.at_us INTO blocking_us FROM rate_moments m
     WHERE m.key_id = asked.key AND m.total > before + granted - asked.most ORDER BY m.total LIMIT 1;
    RETURN NEXT;
  END LOOP;
END $$;
