-- The rate windows of keys when several nodes answer calls: whichever node a call comes to, it counts with all others.
-- Not logged: what a crash of PostgreSQL loses here is the memory of one minute.
CREATE UNLOGGED TABLE rate_windows (
  key_id text PRIMARY KEY,
  -- How many calls were ever let through, and the newest moment that anybody asked at, in microseconds. The row is the lock
  -- of the window.
  total  bigint NOT NULL,
  at_us  bigint NOT NULL
) WITH (fillfactor = 50);

-- One row for the calls of a key that were let through together: when, and how many there had been with them. So how many
-- lie between two moments is a difference of two rows, however many there are.
CREATE UNLOGGED TABLE rate_moments (
  key_id text NOT NULL,
  total  bigint NOT NULL,
  at_us  bigint NOT NULL,
  PRIMARY KEY (key_id, total)
);
CREATE INDEX rate_moments_by_time ON rate_moments (key_id, at_us, total);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['rate_windows', 'rate_moments'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY no_tenant ON %I USING ((SELECT porter_sees_all()))', name);
  END LOOP;
END $$;

-- The clock of the server, which all nodes share. A test brings its own.
CREATE FUNCTION rate_clock_us(given_us bigint) RETURNS bigint LANGUAGE sql VOLATILE AS $$
  SELECT coalesce(given_us, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
$$;

-- Lets through as many of the wanted calls of each key as its limit allows: never more than that in any span. The first
-- `granted` of them are; `used` were counted before. `oldest_us`: how long ago the oldest call was that counts;
-- `blocking_us`: how long ago the one was that has to leave before there is room again, where there is none.
-- Windows are taken in the order of the keys, and the time is asked once a window is locked, so it never goes back in a
-- window, unless the server's clock was set back: by less than a span, time stands still for so long; by more, the window begins anew.
CREATE FUNCTION take_rates(given_us bigint, span_us bigint, keys text[], limits integer[], wanted integer[])
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

-- Forgets windows that nobody has asked about for so long, a bounded number at a time.
CREATE FUNCTION forget_rates(given_us bigint, age_us bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  WITH idle AS (
    DELETE FROM rate_windows WHERE key_id IN (
      SELECT key_id FROM rate_windows WHERE at_us < rate_clock_us(given_us) - age_us
       ORDER BY key_id LIMIT 10000 FOR UPDATE SKIP LOCKED)
    RETURNING key_id
  )
  DELETE FROM rate_moments m USING idle WHERE m.key_id = idle.key_id;
END $$;
