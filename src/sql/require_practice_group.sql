-- Trigger of tables whose rows outlive their practice group: a new row names one that exists.
--
-- Guarantees: the practice group stays until the transaction ends, as with a foreign key. Whoever removes it has it locked, and waits for this
-- row or is waited for.
CREATE OR REPLACE FUNCTION require_practice_group() RETURNS trigger LANGUAGE plpgsql
AS $$
BEGIN
  PERFORM FROM practice_groups WHERE id = NEW.practice_group_id FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE foreign_key_violation USING MESSAGE = format('there is no practice group %L', NEW.practice_group_id);
  END IF;
  RETURN NEW;
END $$;
