-- As `erase_events_2`, for nodes of the version before, which do not ask where the events stood in the feed.
CREATE OR REPLACE FUNCTION erase_events(
  at timestamptz, group_id text, object text, object_id text, pseudonym text, before_position bigint, rows_max integer, withdrawal text,
  OUT next_position bigint, OUT events_erased integer, OUT deliveries_erased integer, OUT deliveries_withdrawn integer,
  OUT idempotency_keys_erased integer, OUT recipients json
) LANGUAGE plpgsql
AS $$
BEGIN
  SELECT e.next_position, e.events_erased, e.deliveries_erased, e.deliveries_withdrawn, e.idempotency_keys_erased, e.recipients
    INTO next_position, events_erased, deliveries_erased, deliveries_withdrawn, idempotency_keys_erased, recipients
    FROM erase_events_2(at, group_id, object, object_id, pseudonym, before_position, rows_max, withdrawal) AS e;
END $$;
