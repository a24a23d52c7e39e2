-- Through which keys, and for each through which network, a partner could hear of a practice group at a moment of the past: `network_id` is null
-- for a key of the group itself. With `only_key`, which was let in then, only through that one. `needed`: the scopes that it took.
--
-- A network counts if it granted one of these to this partner at that moment, as in src/sql/events/receives_until.sql and src/store/practices/practice-groups.ts. What
-- scopes a key had then is not kept here but in the audit: those that it has now count.
CREATE OR REPLACE FUNCTION access_through(
  partner text, only_key text, group_id text, at timestamptz, needed text[]
) RETURNS json LANGUAGE sql STABLE
AS $$
  SELECT coalesce(json_agg(json_build_object('key_id', k.id, 'network_id', way.network_id) ORDER BY k.id, way.network_id), '[]')
    FROM api_keys k
   CROSS JOIN LATERAL (
     SELECT NULL AS network_id WHERE k.practice_group_id = group_id
     UNION ALL
     SELECT mine.network_id FROM network_memberships mine JOIN network_memberships theirs ON theirs.network_id = mine.network_id
      WHERE k.practice_group_id <> group_id AND mine.practice_group_id = group_id AND theirs.practice_group_id = k.practice_group_id
        AND mine.joined_at <= at AND (mine.left_at IS NULL OR mine.left_at > at)
        AND theirs.joined_at <= at AND (theirs.left_at IS NULL OR theirs.left_at > at)
        AND (mine.partner_ids IS NULL OR partner = ANY (mine.partner_ids))
        AND (mine.scopes IS NULL OR needed = '{}' OR needed && mine.scopes)) AS way
   WHERE k.partner_id = partner
     AND (k.id = only_key OR (only_key IS NULL AND needed <@ k.scopes AND k.created_at <= at
       AND (k.revoked_at IS NULL OR k.revoked_at > at) AND (k.expires_at IS NULL OR k.expires_at > at)))
$$;
