-- Why a partner may not receive the events of a practice group, in a word (`withheldReasons` in src/contract/partner/webhooks.ts). For a
-- partner that may, it says nothing useful: ask `receives_until` first.
CREATE OR REPLACE FUNCTION why_withheld(partner text, group_id text, at timestamptz) RETURNS text LANGUAGE plpgsql STABLE
AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM partners WHERE id = partner AND status = 'verified') THEN
    RETURN 'partner_not_verified';
  END IF;
  IF EXISTS (SELECT FROM stops s WHERE s.practice_group_id = group_id AND s.partner_id = partner AND s.lifted_at IS NULL) THEN
    RETURN 'stopped_by_practice';
  END IF;
  -- All its keys that reach the group, whether they still work or not.
  RETURN (SELECT CASE WHEN count(*) = 0 THEN 'out_of_reach'
                      WHEN bool_or(k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > at)) THEN 'scope_missing'
                      WHEN bool_or(k.revoked_at IS NULL) THEN 'key_expired'
                      ELSE 'key_revoked' END
            FROM api_keys k
           WHERE k.partner_id = partner
             AND (k.practice_group_id = group_id
                  OR EXISTS (SELECT FROM network_members mine JOIN network_members theirs USING (network_id) JOIN networks n ON n.id = network_id
                              WHERE mine.practice_group_id = group_id AND theirs.practice_group_id = k.practice_group_id
                                AND (n.partner_ids IS NULL OR partner = ANY (n.partner_ids)))));
END $$;
