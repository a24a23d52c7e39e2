-- As `entitled_webhooks_2`, for nodes of the version before: of the webhooks that they can serve.
CREATE OR REPLACE FUNCTION entitled_webhooks(at timestamptz, nos integer[])
RETURNS TABLE (webhook_no integer, version integer, entitled_ms integer) LANGUAGE plpgsql STABLE
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY SELECT e.webhook_no, e.version, e.entitled_ms FROM entitled_webhooks_2(at, entitled_webhooks.nos, NULL) AS e WHERE e.is_usual;
END $$;
