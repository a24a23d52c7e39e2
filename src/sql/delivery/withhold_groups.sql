-- Of a webhook for all practice groups of a partner: what a claim hands out next, and the groups that it is of. Whatever is queued of a group that
-- the partner may not receive at this moment is set aside on the way, until `review_entitlement` finds that it may again.
--
-- Guarantees:
-- - The caller holds the lock on the lane, and nothing else is put into its queue or taken out meanwhile.
-- - What is handed out is of groups that were asked about under that lock (`group_ids`, on lines of their own); for the next `entitled_ms` the
--   answer is good, as in `entitled_webhooks_2`.
-- - What is withheld keeps its place. Of the deliveries about one object one is `due`, at infinity, and the others wait behind it, as ever.
-- - A group that is withheld is noted, with the reason. Others do not wait for it: what is set aside is passed over, up to ten times `room` in
--   one call. If that was not enough, `entitled_ms` is null: the lane is left out of this claim, because its worker would take what it is handed
--   for all there is, and go on behind it.
--
-- `first`: from which sequence on it wants what is new (null: from the beginning), `under_way`: the sequences that the worker has already.
CREATE OR REPLACE FUNCTION withhold_groups(
  at timestamptz, webhook integer, look_back boolean, first bigint, room integer, under_way int8multirange,
  OUT sequences bigint[], OUT tries integer[], OUT event_nos bigint[], OUT are_new boolean[], OUT behind boolean[],
  OUT group_ids text, OUT entitled_ms integer
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
  SET enable_bitmapscan = off
AS $$
#variable_conflict use_variable
DECLARE
  longest CONSTANT integer := 900;
  rounds  CONSTANT integer := 10;
  partner text;
  groups  text[];
  asked   text[] := '{}';
  barred  text[] := '{}';
  until   timestamptz := 'infinity';
BEGIN
  SELECT w.partner_id INTO STRICT partner FROM webhooks w WHERE w.no = webhook;
  FOR round IN 1 .. rounds LOOP
    SELECT coalesce(first, l.open_from) INTO STRICT first FROM webhook_lanes l WHERE l.webhook_no = webhook;
    SELECT array_agg(one.sequence), array_agg(one.tries), array_agg(one.event_no), array_agg(one.is_new), array_agg(one.behind), array_agg(e.id)
      INTO sequences, tries, event_nos, are_new, behind, groups
      FROM ((SELECT d.sequence, d.tries, d.event_no, false AS is_new, false AS behind FROM deliveries d
              WHERE look_back AND greatest(d.webhook_no, 0) = webhook AND d.retry_at <= at AND NOT under_way @> d.sequence
                AND (d.sequence < first OR NOT EXISTS (
                      SELECT FROM deliveries o WHERE o.webhook_no = webhook AND o.sequence >= first AND o.sequence < d.sequence
                         AND o.object_hash = d.object_hash AND o.state = 'due' AND o.retry_at IS NULL ORDER BY o.sequence OFFSET 0))
              ORDER BY d.retry_at, d.sequence LIMIT room)
            UNION ALL
            (SELECT d.sequence, d.tries, d.event_no, true,
                    EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = webhook AND o.object_hash = d.object_hash
                               AND o.retry_at IS NOT NULL AND o.sequence < d.sequence OFFSET 0)
               FROM deliveries d
              WHERE d.webhook_no = webhook AND d.sequence >= first AND d.state = 'due' AND d.retry_at IS NULL
                AND NOT under_way @> d.sequence
              ORDER BY d.sequence LIMIT room)) AS one
     -- One whose event is gone is left to the worker, which leaves it where it is.
      LEFT JOIN LATERAL (SELECT practice_group_id AS id FROM events WHERE events.no = one.event_no OFFSET 0) AS e ON true;
    SELECT asked || coalesce(array_agg(found.id), '{}'), barred || coalesce(array_agg(found.id) FILTER (WHERE found.until IS NULL), '{}'),
           least(until, min(found.until))
      INTO asked, barred, until
      FROM (SELECT g.id, receives_until(partner, g.id, at) AS until
              FROM (SELECT DISTINCT id FROM unnest(groups) AS id WHERE id IS NOT NULL AND id <> ALL (asked)) AS g) AS found;
    EXIT WHEN NOT coalesce(groups && barred, false);

    INSERT INTO withheld_groups (webhook_no, practice_group_id, since, reason)
    SELECT webhook, id, at, why_withheld(partner, id, at) FROM unnest(barred) AS id WHERE id = ANY (groups) ON CONFLICT DO NOTHING;
    WITH setting AS MATERIALIZED (
      SELECT s.sequence, s.is_new FROM unnest(sequences, are_new, groups) AS s (sequence, is_new, group_id) WHERE s.group_id = ANY (barred)
    ), foremost AS MATERIALIZED (
      -- The first of each object among what is new, whether it is under way or not.
      SELECT d.object_hash, min(d.sequence) AS sequence FROM deliveries d
       WHERE d.webhook_no = webhook AND d.state = 'due' AND d.retry_at IS NULL
         AND d.sequence >= (SELECT l.open_from FROM webhook_lanes l WHERE l.webhook_no = webhook)
         AND d.sequence <= (SELECT max(s.sequence) FROM setting s)
       GROUP BY d.object_hash
    ), judged AS MATERIALIZED (
      SELECT d.id, s.is_new
                   AND (EXISTS (SELECT FROM foremost l WHERE l.object_hash = d.object_hash AND l.sequence < d.sequence)
                     OR EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = webhook AND o.object_hash = d.object_hash
                                   AND o.retry_at IS NOT NULL AND o.sequence < d.sequence OFFSET 0)) AS waits
        FROM setting s
       CROSS JOIN LATERAL (SELECT o.ctid AS id, o.object_hash, o.sequence FROM deliveries o
                            WHERE o.webhook_no = webhook AND o.sequence = s.sequence LIMIT 1) AS d
    )
    UPDATE deliveries d SET retry_at = 'infinity', state = CASE WHEN judged.waits THEN 'waiting' ELSE 'due' END
      FROM judged WHERE d.ctid = judged.id;
    UPDATE webhook_lanes l
       SET open_from = coalesce((SELECT d.sequence FROM deliveries d
                                  WHERE d.webhook_no = webhook AND d.sequence >= l.open_from AND d.state = 'due' AND d.retry_at IS NULL
                                  ORDER BY d.sequence LIMIT 1), l.last_sequence + 1)
     WHERE l.webhook_no = webhook;
    sequences := NULL;
    tries := NULL;
    event_nos := NULL;
    are_new := NULL;
    behind := NULL;
    IF round = rounds THEN
      RETURN;
    END IF;
  END LOOP;
  SELECT string_agg(id, E'\n') INTO group_ids FROM unnest(asked) AS id WHERE id <> ALL (barred);
  entitled_ms := CASE WHEN until > at + longest * interval '1 millisecond' THEN longest
                      ELSE floor(extract(epoch FROM until - at) * 1000)::integer END;
END $$;
