-- The time that nodes decide by together: the server's, which is the same for all of them; a test brings its own. Asked once at the beginning
-- of a function, so that all it decides is of one moment; the server's is read then, not when the transaction began.
CREATE OR REPLACE FUNCTION shared_now(given timestamptz) RETURNS timestamptz LANGUAGE sql VOLATILE
AS $$
  SELECT coalesce(given, clock_timestamp())
$$;
