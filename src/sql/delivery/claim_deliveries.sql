-- As `claim_deliveries_3`, for nodes of version 1: of the webhooks that they can serve.
CREATE OR REPLACE FUNCTION claim_deliveries(
  at timestamptz, lease_ms integer, me bigint, after_no integer, deliveries_max integer, usual_room integer, look_back boolean,
  known_nos integer[], known_rooms integer[], known_held boolean[], known_froms bigint[], under_way text
) RETURNS TABLE (
  webhook_no integer, version integer, lease_expired boolean, is_new boolean, sequences text, tries text, behind text,
  event_nos text, object_hashes text, accepted_ms text, payloads text, group_ids text, entitled_ms integer
) LANGUAGE plpgsql
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT c.webhook_no, c.version, c.lease_expired, c.is_new, c.sequences, c.tries, c.behind, c.event_nos, c.object_hashes, c.accepted_ms,
         c.payloads, c.group_ids, c.entitled_ms
    FROM claim_deliveries_3(at, lease_ms, me, after_no, deliveries_max, usual_room, look_back, known_nos, known_rooms, known_held,
                                   known_froms, under_way, '{}', true) AS c;
END $$;
