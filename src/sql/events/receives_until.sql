-- Whether a partner may receive the events of a practice group at this moment, and until when at least if nobody takes it away; null: it may
-- not. It is verified, the practice has not stopped it, and it holds a key that is neither revoked nor expired, has the scope `events:read`, and is tied to the group, or to another
-- one that shares a network with it which grants that scope to this partner. The door decides the same in src/domain/access/access.ts and
-- src/store/practices/practice-groups.ts; test/service/access/access-agreement.test.ts holds the two against each other.
--
-- In plpgsql on purpose: it is planned once for each connection, and the key of the group itself, which most partners have, is looked for first.
CREATE OR REPLACE FUNCTION receives_until(partner text, group_id text, at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
AS $$
DECLARE
  until timestamptz;
BEGIN
  IF NOT EXISTS (SELECT FROM partners WHERE id = partner AND status = 'verified')
     OR EXISTS (SELECT FROM stops s WHERE s.practice_group_id = group_id AND s.partner_id = partner AND s.lifted_at IS NULL) THEN
    RETURN NULL;
  END IF;
  SELECT coalesce(k.expires_at, 'infinity') INTO until FROM api_keys k
   WHERE k.practice_group_id = group_id AND k.partner_id = partner AND 'events:read' = ANY (k.scopes)
     AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at) LIMIT 1;
  IF until IS NOT NULL THEN
    RETURN until;
  END IF;
  SELECT coalesce(alive.expires_at, 'infinity') INTO until FROM network_members mine
   CROSS JOIN LATERAL (SELECT FROM networks n
                        WHERE n.id = mine.network_id AND (n.partner_ids IS NULL OR partner = ANY (n.partner_ids))
                          AND (n.scopes IS NULL OR 'events:read' = ANY (n.scopes)) OFFSET 0) AS granting
   CROSS JOIN LATERAL (SELECT m.practice_group_id FROM network_members m
                        WHERE m.network_id = mine.network_id OFFSET 0) AS theirs
   CROSS JOIN LATERAL (SELECT k.expires_at FROM api_keys k
                        WHERE k.practice_group_id = theirs.practice_group_id AND k.partner_id = partner AND 'events:read' = ANY (k.scopes)
                          AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at)
                       OFFSET 0) AS alive
   WHERE mine.practice_group_id = group_id LIMIT 1;
  RETURN until;
END $$;
