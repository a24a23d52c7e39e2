-- Begins a timeline of the feed after `head`, or after its present end. Whatever happened to the database before, positions that are given
-- from now on cannot be taken for those of another history: the name of the timeline is random.
--
-- Called when a node starts, because a restore that leaves no trace in the database itself is followed by a start; and by fan_out, which
-- gives positions, when the server is another one than before. The lock on the head keeps the two apart.
-- A timeline in which no position was given yet is replaced: one of the same name may have given some in a history that was lost.
CREATE OR REPLACE FUNCTION begin_timeline(head bigint) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  IF head IS NULL THEN
    SELECT position INTO head FROM feed_head FOR UPDATE;
  END IF;
  INSERT INTO feed_timelines (after, id, began_at, server)
  SELECT head, concat_ws('-', cell.no, to_hex((extract(epoch FROM at) * 1000)::bigint), left(replace(gen_random_uuid()::text, '-', ''), 16)),
         at, feed_server()
    FROM cell CROSS JOIN clock_timestamp() AS at
  ON CONFLICT (after) DO UPDATE SET id = excluded.id, began_at = excluded.began_at, server = excluded.server;
END $$;
