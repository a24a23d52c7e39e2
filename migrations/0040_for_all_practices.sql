-- Webhooks for all practice groups of a partner (`audience` = 'partner').

-- Those that it is narrowed to; null: every one that the partner may act for.
ALTER TABLE webhooks ADD COLUMN only_group_ids text[];

-- Of such a webhook: the practice groups whose deliveries are withheld, since when and why (src/sql/events/why_withheld.sql). What is withheld is set
-- aside until `infinity`: as `due`, or as `waiting` behind an earlier one about the same object. If the partner may receive nothing
-- at all, that is noted at the webhook, as for any other.
CREATE TABLE withheld_groups (
  webhook_no        integer NOT NULL REFERENCES webhooks ON DELETE CASCADE,
  practice_group_id text NOT NULL,
  since             timestamptz NOT NULL,
  reason            text NOT NULL,
  PRIMARY KEY (webhook_no, practice_group_id)
);
ALTER TABLE withheld_groups ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON withheld_groups USING ((SELECT porter_sees_all())
  OR webhook_no = ANY ((SELECT porter_webhooks())::integer[]));

-- A webhook for all practice groups is its partner's, whichever of them it acts for.
ALTER POLICY tenant ON webhooks USING ((SELECT porter_sees_all()) OR (partner_id = (SELECT current_setting('porter.partner', true))
  AND (audience = 'partner' OR practice_group_id = ANY ((SELECT porter_tenants())::text[]))));
