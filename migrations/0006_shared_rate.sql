-- The rate windows of keys when several nodes answer calls: whichever node a call comes to, it counts with all others.
-- Not logged: what a crash of PostgreSQL loses here is the memory of one minute.
CREATE UNLOGGED TABLE rate_windows (
  key_id text PRIMARY KEY,
  -- How many calls were ever let through, and the newest moment that anybody asked at. The row is the lock of the window.
  total  bigint NOT NULL,
  at_ms  bigint NOT NULL
) WITH (fillfactor = 50);

-- One row for the calls of a key that were let through together: when, and how many there had been with them. So how many
-- lie between two moments is a difference of two rows, however many there are.
CREATE UNLOGGED TABLE rate_moments (
  key_id text NOT NULL,
  total  bigint NOT NULL,
  at_ms  bigint NOT NULL,
  PRIMARY KEY (key_id, total)
);
CREATE INDEX rate_moments_by_time ON rate_moments (key_id, at_ms, total);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['rate_windows', 'rate_moments'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
END $$;

-- Lets through as many of the wanted calls of each key as its limit allows: never more than that in any span. The first
-- `granted` of them are; `used` were counted before. `oldest_ms`: the moment of the oldest call that counts;
-- `blocking_ms`: the moment of the one that has to leave before there is room again, where there is none.
-- Windows are taken in the order of the keys. The time of a window never goes back, whatever the clocks of the nodes say.
CREATE FUNCTION take_rates(now_ms bigint, span_ms bigint, keys text[], limits integer[], wanted integer[])
RETURNS TABLE (key_id text, at_ms bigint, used integer, granted integer, oldest_ms bigint, blocking_ms bigint) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  asked  record;
  before bigint;
  left_at bigint;
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  FOR asked IN SELECT * FROM unnest(keys, limits, wanted) AS a (key, most, calls) ORDER BY key LOOP
    key_id := asked.key;
    INSERT INTO rate_windows AS w VALUES (asked.key, 0, now_ms)
      ON CONFLICT (key_id) DO UPDATE SET at_ms = greatest(w.at_ms, excluded.at_ms)
      RETURNING w.total, w.at_ms INTO before, at_ms;
    SELECT m.total INTO left_at FROM rate_moments m
     WHERE m.key_id = asked.key AND m.at_ms <= take_rates.at_ms - span_ms ORDER BY m.at_ms DESC, m.total DESC LIMIT 1;
    left_at := coalesce(left_at, 0);
    used := before - left_at;
    granted := greatest(0, least(asked.calls, asked.most - used));
    IF granted > 0 THEN
      INSERT INTO rate_moments VALUES (asked.key, before + granted, at_ms);
      UPDATE rate_windows w SET total = before + granted WHERE w.key_id = asked.key;
      DELETE FROM rate_moments m WHERE m.key_id = asked.key AND m.total < left_at;
    END IF;
    SELECT m.at_ms INTO oldest_ms FROM rate_moments m
     WHERE m.key_id = asked.key AND m.total > left_at ORDER BY m.total LIMIT 1;
    SELECT m.at_ms INTO blocking_ms FROM rate_moments m
     WHERE m.key_id = asked.key AND m.total > before + granted - asked.most ORDER BY m.total LIMIT 1;
    RETURN NEXT;
  END LOOP;
END $$;

-- Forgets windows that nobody has asked about since.
CREATE FUNCTION forget_rates(before_ms bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  WITH idle AS (
    DELETE FROM rate_windows WHERE key_id IN (
      SELECT key_id FROM rate_windows WHERE at_ms < before_ms ORDER BY key_id FOR UPDATE SKIP LOCKED)
    RETURNING key_id
  )
  DELETE FROM rate_moments m USING idle WHERE m.key_id = idle.key_id;
END $$;
