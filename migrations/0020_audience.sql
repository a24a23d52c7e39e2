-- Whom a webhook is for: one practice group's events for a partner, those of every practice group that a partner may act for, or the operator's
-- own systems. Code of the version before knows the first alone, and finds webhooks by practice group.
ALTER TABLE webhooks
  ADD COLUMN audience text NOT NULL DEFAULT 'practice_group' CHECK (audience IN ('practice_group', 'partner', 'operator')),
  ALTER COLUMN practice_group_id DROP NOT NULL,
  ALTER COLUMN partner_id DROP NOT NULL,
  ADD CONSTRAINT webhooks_of_audience
    CHECK ((partner_id IS NULL) = (audience = 'operator') AND (practice_group_id IS NULL) = (audience <> 'practice_group'));
CREATE INDEX webhooks_by_partner ON webhooks (partner_id, id) WHERE audience = 'partner' AND deleted_at IS NULL;
CREATE INDEX webhooks_of_operators ON webhooks (no) WHERE audience = 'operator' AND deleted_at IS NULL;
