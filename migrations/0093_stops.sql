-- Partners that a practice group has stopped: from then on, until the stop is lifted, the partner does not act for the group and receives none of its
-- events (src/store/practices/practice-groups.ts, src/sql/events/receives_until.sql). Stops that were lifted stay, as what happened.
CREATE TABLE stops (
  id                text PRIMARY KEY,
  practice_group_id text NOT NULL,
  partner_id        text NOT NULL REFERENCES partners,
  reason            text NOT NULL,
  stopped_at        timestamptz NOT NULL,
  -- The invitation by which whoever stopped it is here, and the name at that time.
  stopped_by        text NOT NULL,
  stopped_by_name   text NOT NULL,
  lifted_at         timestamptz,
  -- Somebody of the practice, again by the invitation, or an operator, who says why.
  lifted_by         text,
  lifted_by_name    text,
  lifted_reason     text,
  CHECK (num_nulls(lifted_at, lifted_by, lifted_by_name) IN (0, 3))
);
-- What the door and the post ask for: one stop at a time.
CREATE UNIQUE INDEX stops_in_force ON stops (practice_group_id, partner_id) WHERE lifted_at IS NULL;
CREATE INDEX stops_by_group ON stops (practice_group_id, id);
CREATE INDEX stops_by_partner ON stops (partner_id, id);

-- People of the practice see and make its own. A partner that acts for it does neither.
ALTER TABLE stops ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON stops USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
  AND (SELECT current_setting('porter.partner', true)) = ''));
