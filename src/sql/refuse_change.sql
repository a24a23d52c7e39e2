-- Trigger of `audit_entries`: an entry is never changed or removed.
CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
  RAISE EXCEPTION 'audit entries are never changed or removed';
END $$;
