-- Forgets the windows of keys that nobody has asked about for `age_us`, at most 10,000 with each call.
CREATE OR REPLACE FUNCTION forget_rates(given_us bigint, age_us bigint) RETURNS void LANGUAGE plpgsql
AS $$
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
