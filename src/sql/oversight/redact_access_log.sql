-- As `redact_access_log_2`, for nodes of the version before, which ask how many entries it changed and nothing else.
CREATE OR REPLACE FUNCTION redact_access_log(group_id text, object text, object_id text, pseudonym text) RETURNS integer LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp
AS $$
BEGIN
  RETURN (SELECT redacted FROM redact_access_log_2(group_id, object, object_id, pseudonym));
END $$;
REVOKE EXECUTE ON FUNCTION redact_access_log FROM PUBLIC;
