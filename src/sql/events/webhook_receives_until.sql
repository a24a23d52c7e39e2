-- Whether a webhook may be sent what it is for at this moment, and until when at least (`receives_until`); null: it may not. One for all practice
-- groups of a partner (`group_id` null) may if its partner is verified, and is then asked about for each group; one of operators always may.
CREATE OR REPLACE FUNCTION webhook_receives_until(audience text, partner text, group_id text, at timestamptz) RETURNS timestamptz LANGUAGE plpgsql STABLE
AS $$
BEGIN
  IF audience = 'operator' THEN
    RETURN 'infinity';
  ELSIF group_id IS NULL THEN
    RETURN (SELECT 'infinity'::timestamptz FROM partners WHERE id = partner AND status = 'verified');
  END IF;
  RETURN receives_until(partner, group_id, at);
END $$;
