-- Puts texts without identifiers in the place of audit entries' texts: `entries` is an array of {seq, body, subject_id}.
--
-- Guarantees: only these entries, and of each only its text and its subject; the hashes stay as they are. With the rights of its owner,
-- so that the login of the service need not be allowed to change an entry. The caller lists what it redacted in an audit entry of its own,
-- in the same transaction: verification takes a redacted entry for good only if one does (src/domain/oversight/audit-chain.ts).
CREATE OR REPLACE FUNCTION redact_audit(entries json) RETURNS void LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
AS $$
DECLARE
  entry record;
BEGIN
  FOR entry IN SELECT * FROM json_to_recordset(entries) AS redacted (seq bigint, body text, subject_id text) LOOP
    PERFORM set_config('porter.redacts', entry.seq::text, true);
    UPDATE audit_entries SET body = entry.body, subject_id = entry.subject_id WHERE audit_entries.seq = entry.seq;
  END LOOP;
  PERFORM set_config('porter.redacts', '', true);
END $$;
REVOKE EXECUTE ON FUNCTION redact_audit FROM PUBLIC;
