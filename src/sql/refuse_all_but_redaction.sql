-- Trigger of `audit_entries`: of an entry nothing is ever changed but its text and the subject in it, and that by an erasure alone
-- (src/sql/oversight/redact_audit.sql), which says so in an entry of its own.
CREATE OR REPLACE FUNCTION refuse_all_but_redaction() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
  IF current_setting('porter.redacts', true) IS DISTINCT FROM OLD.seq::text
     OR (NEW.seq, NEW.at, NEW.actor_id, NEW.action, NEW.hash) IS DISTINCT FROM (OLD.seq, OLD.at, OLD.actor_id, OLD.action, OLD.hash)
     OR NEW.practice_group_id IS DISTINCT FROM OLD.practice_group_id THEN
    RAISE EXCEPTION 'audit entries are never changed or removed';
  END IF;
  RETURN NEW;
END $$;
