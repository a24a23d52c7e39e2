-- Puts events that came one by one, gathered, into the transactional outbox: many calls in one statement. Whoever calls this sees to it that
-- the workers hear of them. Each place of the lists is a call
-- with one event; lists travel as lines, except what may hold a line break. A call with an Idempotency-Key has it in `keys`, with the hash of
-- what was asked and the answer that is kept; null in `keys`: none in the whole batch. The same holds for the traces that the calls are part of.
--
-- Guarantees: the calls do not touch each other. One about an unknown practice group is told so (`unknown`) and leaves nothing. One whose key
-- was used before, by an earlier call of this batch as well, accepts nothing (`repeated`) and is told what was kept; `kept_answers` is null where
-- that was cleared away meanwhile, and the call is to be made again. The key and the event commit together. Keys are taken in
-- their order, so that nodes that take the same ones wait for each other instead of deadlocking.
--
-- `event_nos`: the numbers of what was accepted; null: nothing was.
CREATE OR REPLACE FUNCTION put_events(
  at timestamptz, id_lines text, payload_lines text, group_lines text, event_lines text, object_lines text, object_ids text[],
  source_lines text, traceparents text[], keys text[], body_hashes text[], answers text[],
  OUT unknown integer[], OUT repeated integer[], OUT kept_hashes text[], OUT kept_answers text[], OUT event_nos bigint[]
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  group_ids text[] := string_to_array(group_lines, E'\n');
  sources   text[] := string_to_array(source_lines, E'\n');
  refused   integer[];
BEGIN
  PERFORM set_config('porter.tenant', '*', true);
  SELECT array_agg(n) INTO unknown FROM generate_series(1, cardinality(group_ids)) AS n
   WHERE NOT EXISTS (SELECT FROM practice_groups g WHERE g.id = group_ids[n]);
  refused := coalesce(unknown, '{}');

  IF keys IS NOT NULL THEN
    WITH wanted AS MATERIALIZED (
      SELECT n, sources[n] AS caller_id, keys[n] AS key, row_number() OVER (PARTITION BY sources[n], keys[n] ORDER BY n) AS turn
        FROM generate_series(1, cardinality(keys)) AS n WHERE keys[n] IS NOT NULL AND n <> ALL (refused)
    ), taken AS (
      INSERT INTO idempotency_keys (caller_id, key, body_hash, answer, created_at)
      SELECT caller_id, key, decode(body_hashes[n], 'hex'), answers[n]::jsonb, at FROM wanted WHERE turn = 1 ORDER BY caller_id, key
          ON CONFLICT DO NOTHING RETURNING caller_id, key
    )
    SELECT array_agg(n ORDER BY n) INTO repeated FROM wanted
     WHERE turn > 1 OR NOT EXISTS (SELECT FROM taken WHERE taken.caller_id = wanted.caller_id AND taken.key = wanted.key);
    IF repeated IS NOT NULL THEN
      refused := refused || repeated;
      SELECT array_agg(encode(k.body_hash, 'hex') ORDER BY n.place), array_agg(k.answer::text ORDER BY n.place) INTO kept_hashes, kept_answers
        FROM unnest(repeated) WITH ORDINALITY AS n (call, place)
        LEFT JOIN idempotency_keys k ON k.caller_id = sources[n.call] AND k.key = keys[n.call];
    END IF;
  END IF;

  IF cardinality(refused) = cardinality(group_ids) THEN
    RETURN;
  END IF;
  WITH accepted AS (
    INSERT INTO events (id, payload, practice_group_id, event, object_id, object_hash, source, accepted_at, traceparent)
    SELECT new.id, new.payload, new.group_id, new.event, new.object_id, hashtextextended(new.object || ' ' || new.object_id, 0), new.source, at,
           traceparents[new.place]
      FROM unnest(string_to_array(id_lines, E'\n'), string_to_array(payload_lines, E'\n'), group_ids, string_to_array(event_lines, E'\n'),
                  string_to_array(object_lines, E'\n'), object_ids, sources)
           WITH ORDINALITY AS new (id, payload, group_id, event, object, object_id, source, place)
     WHERE new.place <> ALL (refused)
     ORDER BY new.place
    RETURNING no, practice_group_id
  ), queued AS (
    INSERT INTO new_events (practice_group_id, first_no, event_nos, accepted_at)
    SELECT practice_group_id, min(no), array_agg(no), at FROM accepted GROUP BY practice_group_id, no / 100
  )
  SELECT array_agg(no) INTO event_nos FROM accepted;
END $$;
