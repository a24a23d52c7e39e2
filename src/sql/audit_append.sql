-- Appends entries to the audit's hash chain, one on a line, each the exact JSON text that is hashed and kept.
--
-- Guarantees: each hash covers the one before, so an entry cannot be altered, removed or moved without every later hash disagreeing. The
-- columns for searching are read off the text itself. The head is locked until the transaction ends, so this comes last in it: nobody
-- locks anything after it, and it cannot be part of a deadlock. The head also keeps the latest time, and by how much any entry
-- was behind it: entries carry the times of the nodes that wrote them, and lists by time must know how far these are out of order.
-- It is the only way to write to the audit: it works with the rights of its owner, and the service has none on these tables but to read.
CREATE OR REPLACE FUNCTION audit_append(at timestamptz, entries text) RETURNS void LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
  head   audit_head%ROWTYPE;
  last   bytea;
  bodies text[] := string_to_array(entries, E'\n');
  hashes bytea[] := '{}';
BEGIN
  SELECT * INTO STRICT head FROM audit_head FOR UPDATE;
  last := head.hash;
  FOR i IN 1 .. cardinality(bodies) LOOP
    last := sha256(last || convert_to((head.seq + i)::text || ':' || bodies[i], 'UTF8'));
    hashes[i] := last;
  END LOOP;
  INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
  SELECT head.seq + n, at, told.actor ->> 'id', told.action, told.subject ->> 'id', told.practice_group_id, bodies[n], hashes[n]
    FROM generate_series(1, cardinality(bodies)) AS n
   CROSS JOIN LATERAL json_to_record(bodies[n]::json) AS told (actor json, action text, subject json, practice_group_id text);
  UPDATE audit_head SET seq = head.seq + cardinality(bodies), hash = last,
         latest = greatest(head.latest, at), disorder = greatest(head.disorder, head.latest - at);
END $$;
REVOKE EXECUTE ON FUNCTION audit_append FROM PUBLIC;
