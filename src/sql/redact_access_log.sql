-- Puts the ID of an erasure in the place of an object's in the access log of a practice group. Returns how many entries it changed.
--
-- Guarantees: of an entry the digest stays, and the salt goes: the log stays verifiable, and the digest tells nothing. With the rights of
-- its owner, so that the login of the service need not be allowed to change an entry.
CREATE OR REPLACE FUNCTION redact_access_log(group_id text, object text, object_id text, pseudonym text) RETURNS integer LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
  redacted integer;
BEGIN
  UPDATE access_log SET object_id = pseudonym, erased_by = pseudonym,
         body = ((body::jsonb - 'salt') || jsonb_build_object('object_id', pseudonym))::text
   WHERE practice_group_id = group_id AND object_id = redact_access_log.object_id
     AND lower(body::json ->> 'object') = lower(redact_access_log.object);
  GET DIAGNOSTICS redacted = ROW_COUNT;
  RETURN redacted;
END $$;
REVOKE EXECUTE ON FUNCTION redact_access_log FROM PUBLIC;
