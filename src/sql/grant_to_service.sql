-- Lets a login or role run the service: called at every start by whoever owns the tables.
--
-- Guarantees: the grantee may read and write rows, and nothing else: it alters, drops and empties no table. The audit
-- and the access log it reads; what is written to them goes through functions alone, which do so with the rights of their owner. What the schema is and which cell this is, it only reads.
-- Only what differs is granted or taken, so that a start usually writes nothing here. Tables of somebody else are left alone.
CREATE OR REPLACE FUNCTION grant_to_service(grantee text) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
  read_only CONSTANT text[] := '{cell, schema_migrations, schema_version, sql_functions, audit_entries, audit_head, access_log,
                               access_log_batches, access_log_head}';
  writers   CONSTANT text[] := '{audit_append, redact_audit, append_access_log, redact_access_log, redact_access_log_2, clear_access_log}';
  mine      CONSTANT oid := (SELECT relowner FROM pg_class WHERE oid = 'public.schema_migrations'::regclass);
  one       record;
BEGIN
  IF NOT has_schema_privilege(grantee, 'public', 'USAGE') THEN
    EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', grantee);
  END IF;
  -- Databases from before PostgreSQL 15 let everybody make tables there.
  IF has_schema_privilege(grantee, 'public', 'CREATE') THEN
    EXECUTE format('REVOKE CREATE ON SCHEMA public FROM PUBLIC, %I', grantee);
  END IF;
  FOR one IN
    SELECT relname, wanted
      FROM pg_class, LATERAL (SELECT CASE WHEN relname = ANY (read_only) THEN '{SELECT}' ELSE '{DELETE,INSERT,SELECT,UPDATE}' END::text[]) AS w (wanted)
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relowner = mine
       AND wanted IS DISTINCT FROM (SELECT array_agg(privilege_type ORDER BY privilege_type)
                                      FROM aclexplode(relacl) AS given WHERE given.grantee = grant_to_service.grantee::regrole)
     ORDER BY relname
  LOOP
    EXECUTE format('REVOKE ALL ON %I FROM %I', one.relname, grantee);
    EXECUTE format('GRANT %s ON %I TO %I', array_to_string(one.wanted, ', '), one.relname, grantee);
  END LOOP;
  FOR one IN
    SELECT oid::regprocedure AS writer FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND proname = ANY (writers) AND NOT has_function_privilege(grantee, oid, 'EXECUTE')
     ORDER BY proname
  LOOP
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', one.writer, grantee);
  END LOOP;
END $$;
