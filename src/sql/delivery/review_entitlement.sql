-- Notes whose deliveries are withheld, and why: those of webhooks whose partner may not receive them any more. Takes the note away where it may
-- again, and keeps the reason true while it may not. Looks at these webhooks (`nos`), or, if that is null, at the next `webhooks_max` after `after_no` that have open deliveries or a note.
-- `last_no`: where the next call goes on; 0: it has been through all.
--
-- Guarantees: nothing depends on the note for what is sent, because each claim asks anew; a claim passes over what has one. A webhook whose
-- partner may receive again keeps its failures; the time until it is disabled begins anew if nothing was sent for a while. Where a practice group comes
-- back to a webhook for all of them, and others were tried all along, it goes on.
-- Of a webhook for all practice groups of a partner, what `withhold_groups` has set aside of a group comes back when the partner may receive
-- that group again: up to `back_max` deliveries of a webhook at a time, each the first about its object.
CREATE OR REPLACE FUNCTION review_entitlement(
  at timestamptz, after_no integer, webhooks_max integer, nos integer[], OUT last_no integer, OUT withheld integer, OUT resumed integer
) LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
DECLARE
  looked_at integer[] := nos;
  changing  integer[];
  goes_on   integer[];
  rested    integer[];
  back_max  CONSTANT integer := 5000;
  back_nos    integer[];
  back_groups text[];
  back_count  integer;
  other_nos    integer[];
  other_groups text[];
  other_whys   text[];
  one_no      integer;
  of_one      text[];
BEGIN
  at := shared_now(at);
  PERFORM set_config('porter.tenant', '*', true);
  last_no := 0;
  withheld := 0;
  resumed := 0;
  IF nos IS NULL THEN
    WITH RECURSIVE aside AS (
      (SELECT greatest(d.webhook_no, 0) AS no FROM deliveries d
        WHERE d.retry_at IS NOT NULL AND greatest(d.webhook_no, 0) > after_no
        ORDER BY greatest(d.webhook_no, 0), d.retry_at LIMIT 1)
      UNION ALL
      SELECT next.no FROM aside CROSS JOIN LATERAL (
        SELECT greatest(d.webhook_no, 0) AS no FROM deliveries d
         WHERE d.retry_at IS NOT NULL AND greatest(d.webhook_no, 0) > aside.no
         ORDER BY greatest(d.webhook_no, 0), d.retry_at LIMIT 1) AS next
    ), concerned AS (
      (SELECT lane.webhook_no AS no FROM webhook_lanes lane
        WHERE lane.has_new AND greatest(lane.webhook_no, 0) > after_no ORDER BY greatest(lane.webhook_no, 0) LIMIT webhooks_max)
      UNION
      (SELECT aside.no FROM aside LIMIT webhooks_max)
      UNION
      (SELECT w.no FROM webhooks w WHERE w.withheld_since IS NOT NULL AND w.no > after_no ORDER BY w.no LIMIT webhooks_max)
      UNION
      (SELECT g.webhook_no FROM withheld_groups g WHERE g.webhook_no > after_no ORDER BY g.webhook_no LIMIT webhooks_max)
    )
    SELECT array_agg(first.no ORDER BY first.no) INTO looked_at FROM (SELECT no FROM concerned ORDER BY no LIMIT webhooks_max) AS first;
    IF cardinality(looked_at) = webhooks_max THEN
      last_no := looked_at[webhooks_max];
    END IF;
  END IF;

  changing := ARRAY(SELECT w.no FROM unnest(looked_at) AS one (no)
                     CROSS JOIN LATERAL (SELECT * FROM webhooks WHERE webhooks.no = one.no OFFSET 0) AS w
                     WHERE w.deleted_at IS NULL
                       AND CASE WHEN webhook_receives_until(w.audience, w.partner_id, w.practice_group_id, at) IS NOT NULL
                                THEN w.withheld_since IS NOT NULL
                                ELSE w.withheld_reason IS DISTINCT FROM why_withheld(w.partner_id, w.practice_group_id, at) END);
  SELECT array_agg(found.webhook_no) FILTER (WHERE found.may), array_agg(found.practice_group_id) FILTER (WHERE found.may),
         array_agg(found.webhook_no) FILTER (WHERE found.why <> found.reason),
         array_agg(found.practice_group_id) FILTER (WHERE found.why <> found.reason), array_agg(found.why) FILTER (WHERE found.why <> found.reason)
    INTO back_nos, back_groups, other_nos, other_groups, other_whys
    FROM (SELECT g.webhook_no, g.practice_group_id, g.reason, asked.may,
                 CASE WHEN NOT asked.may THEN why_withheld(w.partner_id, g.practice_group_id, at) END AS why
            FROM unnest(looked_at) AS one (no)
           CROSS JOIN LATERAL (SELECT * FROM withheld_groups WHERE withheld_groups.webhook_no = one.no OFFSET 0) AS g
           CROSS JOIN LATERAL (SELECT partner_id FROM webhooks WHERE webhooks.no = one.no OFFSET 0) AS w
           CROSS JOIN LATERAL (SELECT receives_until(w.partner_id, g.practice_group_id, at) IS NOT NULL AS may OFFSET 0) AS asked) AS found;
  IF changing = '{}' AND back_nos IS NULL AND other_nos IS NULL THEN
    RETURN;
  END IF;
  PERFORM FROM webhooks w WHERE w.no = ANY (changing) ORDER BY w.no FOR NO KEY UPDATE;
  PERFORM FROM webhook_lanes lane WHERE lane.webhook_no = ANY (changing || back_nos) ORDER BY lane.webhook_no FOR NO KEY UPDATE;
  -- A statement of its own, so that it sees what was committed while the lock was waited for.
  WITH judged AS MATERIALIZED (
    SELECT w.no, webhook_receives_until(w.audience, w.partner_id, w.practice_group_id, at) IS NOT NULL AS may,
           why_withheld(w.partner_id, w.practice_group_id, at) AS why, w.withheld_since AS since
      FROM webhooks w WHERE w.no = ANY (changing)
  ), noted AS (
    UPDATE webhooks w
       SET withheld_since = CASE WHEN NOT judged.may THEN coalesce(judged.since, at) END,
           withheld_reason = CASE WHEN NOT judged.may THEN judged.why END
      FROM judged
     WHERE w.no = ANY (changing) AND w.no = judged.no AND NOT (judged.may AND judged.since IS NULL)
    RETURNING w.no, judged.may, judged.since
  )
  SELECT count(*) FILTER (WHERE since IS NULL), count(*) FILTER (WHERE may), array_agg(no) FILTER (WHERE may)
    INTO withheld, resumed, goes_on FROM noted;
  rested := goes_on;
  -- All groups of a webhook in one walk along what it has set aside: fan-out waits for its lane meanwhile.
  FOREACH one_no IN ARRAY ARRAY(SELECT DISTINCT no FROM unnest(back_nos) AS no) LOOP
    of_one := ARRAY(SELECT b.group_id FROM unnest(back_nos, back_groups) AS b (no, group_id)
                     WHERE b.no = one_no
                       AND receives_until((SELECT w.partner_id FROM webhooks w WHERE w.no = one_no), b.group_id, at) IS NOT NULL);
    CONTINUE WHEN of_one = '{}';
    IF NOT EXISTS (SELECT FROM deliveries o WHERE greatest(o.webhook_no, 0) = one_no AND o.state = 'due' AND o.retry_at < 'infinity' OFFSET 0) THEN
      rested := rested || one_no;
    END IF;
    UPDATE deliveries d SET retry_at = at
     WHERE d.ctid = ANY (ARRAY(
       SELECT o.id FROM (SELECT ctid AS id, event_no FROM deliveries
                          WHERE greatest(webhook_no, 0) = one_no AND retry_at = 'infinity' AND state = 'due' OFFSET 0) AS o
        CROSS JOIN LATERAL (SELECT FROM events WHERE events.no = o.event_no AND events.practice_group_id = ANY (of_one) OFFSET 0) AS e
        LIMIT back_max));
    GET DIAGNOSTICS back_count = ROW_COUNT;
    IF back_count < back_max THEN
      DELETE FROM withheld_groups g WHERE g.webhook_no = one_no AND g.practice_group_id = ANY (of_one);
      resumed := resumed + cardinality(of_one);
    END IF;
    goes_on := goes_on || one_no;
  END LOOP;
  UPDATE withheld_groups g SET reason = other.why FROM unnest(other_nos, other_groups, other_whys) AS other (no, group_id, why)
   WHERE g.webhook_no = other.no AND g.practice_group_id = other.group_id;
  IF goes_on IS NOT NULL THEN
    UPDATE webhook_lanes SET failing_since = at WHERE webhook_no = ANY (rested) AND failing_since IS NOT NULL;
    PERFORM pg_notify('porter_deliveries', '');
  END IF;
END $$;
