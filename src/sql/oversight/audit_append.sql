-- Appends entries to the audit's hash chain. `bodies` are the exact JSON texts that are hashed and kept; the other lists repeat parts of them
-- for searching.
--
-- Guarantees: each hash covers the one before, so an entry cannot be altered, removed or moved without every later hash disagreeing. The
-- head is locked until the transaction ends, so this comes last in it: nobody locks anything after it, and it cannot be part of a
-- deadlock. The head also keeps the latest time, and by how much any entry was behind it: entries carry the times of the nodes that wrote
-- them, and lists by time must know how far these are out of order.
-- It is the only way to write to the audit: it works with the rights of its owner, and the service has none on these tables but to read.
CREATE OR REPLACE FUNCTION audit_append(
  at timestamptz, actor_ids text[], actions text[], subject_ids text[], group_ids text[], bodies text[]
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
AS $$
DECLARE
  head   audit_head%ROWTYPE;
  last   bytea;
  hashes bytea[] := '{}';
BEGIN
  SELECT * INTO STRICT head FROM audit_head FOR UPDATE;
  last := head.hash;
  FOR i IN 1 .. cardinality(bodies) LOOP
    last := sha256(last || convert_to((head.seq + i)::text || ':' || bodies[i], 'UTF8'));
    hashes[i] := last;
  END LOOP;
  INSERT INTO audit_entries (seq, at, actor_id, action, subject_id, practice_group_id, body, hash)
  SELECT head.seq + n, audit_append.at, actor_ids[n], actions[n], subject_ids[n], group_ids[n], bodies[n], hashes[n]
    FROM generate_series(1, cardinality(bodies)) AS n;
  UPDATE audit_head SET seq = head.seq + cardinality(bodies), hash = last,
         latest = greatest(head.latest, audit_append.at), disorder = greatest(head.disorder, head.latest - audit_append.at);
END $$;
REVOKE EXECUTE ON FUNCTION audit_append FROM PUBLIC;
