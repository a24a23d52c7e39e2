-- As `claim_deliveries_3`, for nodes of the version before, which name all that must not be given anything among those that they know.
CREATE OR REPLACE FUNCTION claim_deliveries_2(
  at timestamptz, lease_ms integer, me bigint, after_no integer, deliveries_max integer, usual_room integer, look_back boolean,
  known_nos integer[], known_rooms integer[], known_held boolean[], known_froms bigint[], under_way text, usual_only boolean
) RETURNS TABLE (
  webhook_no integer, version integer, lease_expired boolean, is_new boolean, sequences text, tries text, behind text,
  event_nos text, object_hashes text, accepted_ms text, payloads text, group_ids text, entitled_ms integer, is_wide boolean
) LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT * FROM claim_deliveries_3(at, lease_ms, me, after_no, deliveries_max, usual_room, look_back, known_nos, known_rooms,
                                                known_held, known_froms, under_way, '{}', usual_only);
END $$;
