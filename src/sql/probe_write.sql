-- Does what publishing an event needs of the server, and leaves nothing behind: takes 1 MiB of the disk that the tables are on, in a temporary file
-- that ends with the statement, and commits a record to the log of writes. An update of a row would not do: on a full disk it still finds
-- room on its own page, while an event needs a new one. Fails with 53100 on a full disk, with 25006 where nothing can be written; with a
-- synchronous standby that is away, it waits as a publish does.
CREATE OR REPLACE FUNCTION probe_write() RETURNS void LANGUAGE plpgsql
  SET work_mem = '64kB' SET temp_tablespaces = ''
AS $$
BEGIN
  PERFORM count(*) FROM unnest(array_fill(repeat('x', 8000), ARRAY[130])) AS page;
  PERFORM pg_logical_emit_message(true, 'porter', 'ready');
END $$;
