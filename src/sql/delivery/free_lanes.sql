-- Gives lanes back before their lease runs out: a worker ends in order, or cannot serve a webhook. `nos` null: all that it holds.
CREATE OR REPLACE FUNCTION free_lanes(me bigint, nos integer[]) RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  PERFORM FROM webhook_lanes WHERE holder = me AND (nos IS NULL OR webhook_no = ANY (nos)) ORDER BY webhook_no FOR NO KEY UPDATE;
  UPDATE webhook_lanes SET holder = NULL, held_until = NULL
   WHERE holder = me AND (nos IS NULL OR webhook_no = ANY (nos));
END $$;
