-- A delivery's attempts with one more, the last 50 of them. `attempt` is a JSON array of one, or empty. Apart from `record_results`,
-- so that it is planned only for a delivery that was attempted before.
CREATE OR REPLACE FUNCTION with_attempt(attempts json, attempt text) RETURNS json LANGUAGE plpgsql IMMUTABLE
AS $$
BEGIN
  IF coalesce(attempt, '') = '' THEN
    RETURN attempts;
  END IF;
  IF json_array_length(attempts) >= 50 THEN
    attempts := (SELECT json_agg(value ORDER BY n) FROM json_array_elements(attempts) WITH ORDINALITY AS kept (value, n) WHERE n > 1);
  END IF;
  RETURN left(attempts::text, -1) || CASE WHEN json_array_length(attempts) > 0 THEN ',' ELSE '' END || substr(attempt, 2);
END $$;
