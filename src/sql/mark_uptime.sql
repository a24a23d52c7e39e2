-- Notes that the service runs in this minute, by the time of `shared_now`. A minute that is noted already is not written again, so several
-- nodes cost what one does.
CREATE OR REPLACE FUNCTION mark_uptime(given timestamptz) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
  at     timestamp := shared_now(given) AT TIME ZONE 'UTC';
  minute integer := extract(hour FROM at) * 60 + extract(minute FROM at);
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  INSERT INTO uptime (day, minutes) VALUES (at::date, set_bit(repeat('0', 1440)::bit(1440), minute, 1))
  ON CONFLICT (day) DO UPDATE SET minutes = set_bit(uptime.minutes, minute, 1) WHERE get_bit(uptime.minutes, minute) = 0;
END $$;
