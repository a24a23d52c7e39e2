-- Extends the leases of these lanes to `lease_ms` after now (`shared_now`); returns those that the worker still holds.
CREATE OR REPLACE FUNCTION renew_lanes(at timestamptz, me bigint, lease_ms integer, nos integer[]) RETURNS SETOF integer LANGUAGE plpgsql
  SET enable_seqscan = off
AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  PERFORM FROM webhook_lanes WHERE webhook_no = ANY (nos) ORDER BY webhook_no FOR NO KEY UPDATE;
  RETURN QUERY UPDATE webhook_lanes SET held_until = shared_now(at) + lease_ms * interval '1 ms'
   WHERE webhook_no = ANY (nos) AND holder = me RETURNING webhook_no;
END $$;
