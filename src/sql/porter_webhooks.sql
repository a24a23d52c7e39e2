-- Row-level security: the webhooks that this transaction may see, by the policy of that table. In plpgsql on purpose: a query then lists
-- them once, and only if it must. As a condition on each row it was part of every plan, policies included.
CREATE OR REPLACE FUNCTION porter_webhooks() RETURNS integer[] LANGUAGE plpgsql STABLE
AS $$
BEGIN
  RETURN ARRAY(SELECT no FROM webhooks);
END $$;
