-- Appends a batch to the access log, one entry on a line, each the exact JSON text that is kept and whose SHA-256 is hashed.
--
-- Guarantees: the batch's hash covers the one before and the digests of its entries in their order, so none can be altered, removed or moved
-- without every later hash disagreeing. The head is locked until the transaction ends, so this comes last in it but for the audit.
-- It is the only way to write to the log: it works with the rights of its owner, and the service has none on these tables but to read.
CREATE OR REPLACE FUNCTION append_access_log(at timestamptz, entries text, OUT batch bigint, OUT hash bytea) LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_variable
DECLARE
  head   access_log_head%ROWTYPE;
  bodies text[] := string_to_array(entries, E'\n');
BEGIN
  SELECT * INTO STRICT head FROM access_log_head FOR UPDATE;
  batch := head.batch + 1;
  hash := sha256(head.hash || sha256((
    SELECT string_agg(sha256(convert_to(body, 'UTF8')), '' ORDER BY n) FROM unnest(bodies) WITH ORDINALITY AS entry (body, n))));
  INSERT INTO access_log (no, batch, last_at, practice_group_id, actor_id, object_id, first_position, last_position, body, digest)
  SELECT head.last_no + n, batch, told.last_at, told.practice_group_id, told.actor ->> 'id', told.object_id, told.first_position,
         told.last_position, bodies[n], sha256(convert_to(bodies[n], 'UTF8'))
    FROM generate_series(1, cardinality(bodies)) AS n
   CROSS JOIN LATERAL json_to_record(bodies[n]::json)
         AS told (last_at timestamptz, practice_group_id text, actor json, object_id text, first_position bigint, last_position bigint);
  INSERT INTO access_log_batches (no, at, first_no, entries, hash) VALUES (batch, at, head.last_no + 1, cardinality(bodies), hash);
  UPDATE access_log_head SET batch = head.batch + 1, last_no = head.last_no + cardinality(bodies), hash = append_access_log.hash;
END $$;
REVOKE EXECUTE ON FUNCTION append_access_log FROM PUBLIC;
