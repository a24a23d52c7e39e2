-- Whether a partner may hear of a practice group at this moment: it is verified, and holds a key that is neither revoked nor expired and
-- is tied to the group, or to another group that shares a network with it. The door decides the same in src/domain/access.ts;
-- test/service/access-agreement.test.ts holds the two against each other.
--
-- In plpgsql on purpose: it is planned once for each connection, and the key of the group itself, which most partners have, is looked for first.
CREATE OR REPLACE FUNCTION may_receive(partner text, group_id text, at timestamptz) RETURNS boolean LANGUAGE plpgsql STABLE
AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM partners WHERE id = partner AND status = 'verified') THEN
    RETURN false;
  END IF;
  IF EXISTS (SELECT FROM api_keys k
              WHERE k.practice_group_id = group_id AND k.partner_id = partner
                AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at)) THEN
    RETURN true;
  END IF;
  RETURN EXISTS (SELECT FROM network_members mine
                  CROSS JOIN LATERAL (SELECT m.practice_group_id FROM network_members m
                                       WHERE m.network_id = mine.network_id OFFSET 0) AS theirs
                  CROSS JOIN LATERAL (SELECT FROM api_keys k
                                       WHERE k.practice_group_id = theirs.practice_group_id AND k.partner_id = partner
                                         AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at)
                                      OFFSET 0) AS alive
                  WHERE mine.practice_group_id = group_id);
END $$;
