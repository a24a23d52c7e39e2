-- Accepts events that came one by one, gathered: puts them into the outbox, as `put_events` guarantees, and tells the workers when it commits.
CREATE OR REPLACE FUNCTION accept_events(
  at timestamptz, id_lines text, payload_lines text, group_lines text, event_lines text, object_lines text, object_ids text[],
  source_lines text, traceparents text[], keys text[], body_hashes text[], answers text[],
  OUT unknown integer[], OUT repeated integer[], OUT kept_hashes text[], OUT kept_answers text[]
) LANGUAGE plpgsql
AS $$
DECLARE
  event_nos bigint[];
BEGIN
  SELECT put.unknown, put.repeated, put.kept_hashes, put.kept_answers, put.event_nos INTO unknown, repeated, kept_hashes, kept_answers, event_nos
    FROM put_events(at, id_lines, payload_lines, group_lines, event_lines, object_lines, object_ids, source_lines, traceparents, keys,
                    body_hashes, answers) AS put;
  IF event_nos IS NOT NULL THEN
    PERFORM pg_notify('porter_events', '');
  END IF;
END $$;
