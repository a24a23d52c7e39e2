-- Memberships that are over are found by when they ended, for retention.

CREATE INDEX network_memberships_by_end ON network_memberships (left_at) WHERE left_at IS NOT NULL;
