-- A practice reads what a partner did in the order of time. Numbers are not that order: what was received is written when its deliveries are
-- cleared, weeks later, and each node writes what it gathered in a minute of its own.
CREATE INDEX access_log_by_time ON access_log (practice_group_id, last_at, no) WHERE practice_group_id IS NOT NULL;
-- People of a partner look at all its webhooks at once, and are told when one has changed. Of all of them, deleted ones too: an index of those that are
-- not deleted is one that fan-out could go through from end to end, and did, with statistics from when there was one webhook.
CREATE INDEX webhooks_of_partner ON webhooks (partner_id, id);

-- ---- Who sees which rows ----

-- People of a partner act for no practice group: `porter.tenant` is empty and `porter.partner` says who they are. They see what is the partner's, in all
-- of its practices, and write none of it; a key, which acts for a practice group, sees no more than before.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY '{api_keys, contacts, webhooks}'::text[] LOOP
    EXECUTE format($policy$CREATE POLICY people_read ON %I FOR SELECT
      USING (partner_id = (SELECT current_setting('porter.partner', true) WHERE current_setting('porter.tenant', true) = ''))$policy$, name);
  END LOOP;
END $$;
CREATE POLICY people_read ON partners FOR SELECT
  USING (id = (SELECT current_setting('porter.partner', true) WHERE current_setting('porter.tenant', true) = ''));
CREATE POLICY people_read ON key_uses FOR SELECT
  USING ((SELECT current_setting('porter.tenant', true) = '') AND EXISTS (SELECT FROM api_keys k WHERE k.id = key_id));
-- People of a practice act for it and for no partner: what the log says of their practice is theirs to read.
CREATE POLICY people_read ON access_log FOR SELECT
  USING (practice_group_id = ANY ((SELECT porter_tenants() WHERE current_setting('porter.partner', true) = '')::text[]));
