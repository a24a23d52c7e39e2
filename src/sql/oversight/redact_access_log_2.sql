-- Puts the ID of an erasure in the place of an object's in the access log of a practice group. Returns how many entries it changed, and which partners
-- these tell of: `recipients` is [{partner_id, deliveries, under_way, reads, last_at}], or null. Whoever read a page of the feed is not among them, for such an entry names no object.
--
-- Guarantees: of an entry the digest stays, and the salt goes: the log stays verifiable, and the digest tells nothing. With the rights of
-- its owner, so that the login of the service need not be allowed to change an entry.
CREATE OR REPLACE FUNCTION redact_access_log_2(
  group_id text, object text, object_id text, pseudonym text, OUT redacted integer, OUT recipients json
) LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
  WITH changed AS (
    UPDATE access_log SET object_id = pseudonym, erased_by = pseudonym,
           body = ((body::jsonb - 'salt') || jsonb_build_object('object_id', pseudonym))::text
     WHERE practice_group_id = group_id AND object_id = redact_access_log_2.object_id
       AND lower(body::json ->> 'object') = lower(redact_access_log_2.object)
    RETURNING body::json AS entry
  ), told AS (
    SELECT entry -> 'actor' ->> 'partner_id' AS partner_id, count(*) FILTER (WHERE entry ->> 'kind' = 'received') AS deliveries, 0 AS under_way,
           coalesce(sum((entry ->> 'count')::integer) FILTER (WHERE entry ->> 'kind' = 'read'), 0) AS reads, max(entry ->> 'last_at') AS last_at
      FROM changed WHERE entry -> 'actor' ->> 'partner_id' IS NOT NULL GROUP BY 1
  )
  SELECT (SELECT count(*) FROM changed), (SELECT json_agg(told) FROM told) INTO redacted, recipients;
END $$;
REVOKE EXECUTE ON FUNCTION redact_access_log_2 FROM PUBLIC;
