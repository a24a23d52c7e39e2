-- The clock of the server in microseconds, which all nodes share; a test brings its own.
CREATE OR REPLACE FUNCTION rate_clock_us(given_us bigint) RETURNS bigint LANGUAGE sql VOLATILE
AS $$
  SELECT coalesce(given_us, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
$$;
