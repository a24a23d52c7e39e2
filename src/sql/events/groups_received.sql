-- The practice groups whose events a partner may receive at this moment, as `receives_until` says of each. They are looked for among those that its
-- keys are tied to, and those that share a network with these.
CREATE OR REPLACE FUNCTION groups_received(partner text, at timestamptz) RETURNS SETOF text LANGUAGE plpgsql STABLE
  SET enable_seqscan = off
AS $$
BEGIN
  RETURN QUERY
  WITH home AS MATERIALIZED (
    SELECT DISTINCT k.practice_group_id AS id FROM api_keys k WHERE k.partner_id = partner AND k.revoked_at IS NULL
  ), near AS MATERIALIZED (
    SELECT home.id FROM home
    UNION
    SELECT theirs.practice_group_id FROM home
      JOIN network_members mine ON mine.practice_group_id = home.id JOIN network_members theirs ON theirs.network_id = mine.network_id
  )
  SELECT near.id FROM near WHERE receives_until(partner, near.id, at) IS NOT NULL ORDER BY near.id;
END $$;
