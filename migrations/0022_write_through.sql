-- Practice groups whose software is asked before a partner's change is made.

-- `webhook_no`: the address and the secrets, in a webhook of the operator that has no topics. What the practice software must be told later, that a
-- change which it accepted was not made, is delivered to it like anything else.
CREATE TABLE write_through (
  practice_group_id text PRIMARY KEY REFERENCES practice_groups,
  webhook_no        integer NOT NULL UNIQUE REFERENCES webhooks,
  created_at        timestamptz NOT NULL,
  updated_at        timestamptz NOT NULL
);

-- Changes that were put to the practice software and are neither made nor withdrawn. A row goes in the transaction that makes the change, or in
-- the one that tells that it was not made: never both, whoever dies in between. Of one submission type there is one at a time.
CREATE TABLE proposals (
  id                text PRIMARY KEY,
  practice_group_id text NOT NULL,
  object_id         text NOT NULL,
  webhook_no        integer NOT NULL,
  -- As it was sent, without the event's name.
  payload           json NOT NULL,
  partner_id        text NOT NULL,
  -- Whoever finds it after that withdraws it: the node that asked is gone.
  late_after        timestamptz NOT NULL
);
CREATE UNIQUE INDEX proposals_of_object ON proposals (practice_group_id, object_id);
CREATE INDEX proposals_by_age ON proposals (late_after);

-- ---- Who sees which rows ----

ALTER TABLE write_through ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE proposals ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY no_tenant ON write_through USING ((SELECT porter_sees_all()));
CREATE POLICY tenant ON proposals USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
  AND partner_id = (SELECT current_setting('porter.partner', true))));
