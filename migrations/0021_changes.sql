-- What partners change, on its way to the practice software, and what became of it there.

-- Still to be placed: in each row, the entries of the audit that one transaction wrote about updates of submission types. They say what
-- the change was, so it is not written twice; and as entries are numbered in the order of commits, so are these.
CREATE TABLE new_changes (
  first_seq bigint PRIMARY KEY,
  last_seq  bigint NOT NULL,
  -- Of a change that the practice software was asked about beforehand and has applied already: the ID that it knows. Then it is one entry.
  change_id text
);

-- The feed of changes. Positions are given as in the feed of events and from the same head, so cursors and timelines are the same, too.
CREATE TABLE changes (
  practice_group_id text NOT NULL,
  position          bigint NOT NULL,
  -- It begins with its position in hex, by which it is found: `chg_2a_9f86d081884c7d65`. Another index would be a fifth of the cost of placing it.
  id                text NOT NULL,
  -- The practice software was asked beforehand, and knows an ID that was made then.
  was_proposed      boolean NOT NULL,
  -- The submission type.
  object_id         text NOT NULL,
  partner_id        text NOT NULL,
  key_id            text NOT NULL,
  at                timestamptz NOT NULL,
  -- The entry of the audit as it is: what it says is read when somebody asks.
  body              text NOT NULL,
  state             text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'applied', 'rejected')),
  -- Why the practice software rejected it, in its words.
  reason            text,
  ended_at          timestamptz,
  PRIMARY KEY (practice_group_id, position),
  CHECK ((state = 'pending') = (ended_at IS NULL) AND (state = 'rejected') = (reason IS NOT NULL))
);
CREATE INDEX changes_in_order ON changes (position);
CREATE UNIQUE INDEX changes_proposed ON changes (id) WHERE was_proposed;
CREATE INDEX changes_pending ON changes (position) WHERE state = 'pending';
CREATE INDEX changes_ended_by_age ON changes (ended_at) WHERE ended_at IS NOT NULL;

-- ---- The operator's own webhooks ----

-- Events for the operator's systems have no practice group in `events` and in `feed`, but '': no tenant is called that, so none of them is
-- ever in what a partner sees. These are still to be fanned out.
CREATE TABLE new_announcements (
  event_no bigint PRIMARY KEY
);

-- ---- Who sees which rows ----

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY '{new_changes, changes, new_announcements}'::text[] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
  END LOOP;
END $$;
-- Of two partners of one practice group neither sees the other's.
CREATE POLICY tenant ON changes USING ((SELECT porter_sees_all()) OR (practice_group_id = ANY ((SELECT porter_tenants())::text[])
  AND partner_id = (SELECT current_setting('porter.partner', true))));
CREATE POLICY no_tenant ON new_changes USING ((SELECT porter_sees_all()));
CREATE POLICY anybody_appends ON new_changes FOR INSERT WITH CHECK (true);
CREATE POLICY no_tenant ON new_announcements USING ((SELECT porter_sees_all()));
