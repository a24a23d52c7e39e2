-- Makes an empty database one cell of several: the numbers that it gives are from ranges of its own, so that a practice group can be moved
-- from one cell to another with all of its rows as they are. Every database is cell 0 until this is called, once, after it was
-- migrated and before the service first uses it.
CREATE OR REPLACE FUNCTION become_cell(number smallint) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  IF EXISTS (SELECT FROM audit_entries) OR EXISTS (SELECT FROM events) OR EXISTS (SELECT FROM webhooks) THEN
    RAISE EXCEPTION 'the database is in use: numbers of its cell were given already';
  END IF;
  UPDATE cell SET no = number;
  EXECUTE format('ALTER SEQUENCE events_no_seq RESTART WITH %s', (number::bigint << 40) + 1);
  EXECUTE format('ALTER SEQUENCE refused_requests_no_seq RESTART WITH %s', (number::bigint << 40) + 1);
  EXECUTE format('ALTER SEQUENCE webhooks_no_seq RESTART WITH %s', (number::integer << 24) + 1);
  -- Its own origin, so that no chain can be passed off as another cell's; src/store/oversight/audit.ts begins there too.
  UPDATE audit_head SET seq = number::bigint << 40, hash = sha256(convert_to('porter' || CASE number WHEN 0 THEN '' ELSE ' cell ' || number END, 'UTF8'));
END $$;
