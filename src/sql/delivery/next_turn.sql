-- Fan-out takes practice groups in turns: the first row of `new_events` of the group that follows `after`, in the order of their IDs,
-- beginning anew after the last.
CREATE OR REPLACE FUNCTION next_turn(after text)
RETURNS TABLE (id text, first_no bigint, place tid, size integer) LANGUAGE sql STABLE
AS $$
  (SELECT practice_group_id, first_no, ctid, cardinality(event_nos) FROM new_events
    WHERE practice_group_id > after ORDER BY practice_group_id, first_no LIMIT 1)
  UNION ALL
  (SELECT practice_group_id, first_no, ctid, cardinality(event_nos) FROM new_events ORDER BY practice_group_id, first_no LIMIT 1)
  LIMIT 1
$$;
