-- What the practice software says can be taken back, and is compared by versions.

-- ---- Removal ----

-- Forms that were sent are history: they stay, and keep no submission type from being removed.
ALTER TABLE form_submissions DROP CONSTRAINT form_submissions_practice_group_id_submission_type_id_fkey;
ALTER TABLE form_counts DROP CONSTRAINT form_counts_practice_group_id_submission_type_id_fkey;

-- Keys that ended, webhooks that were deleted and jobs that are done are kept for a while, and keep no practice group from being removed. That a
-- new one names a practice group that exists, a trigger sees to, as a foreign key would: the other half of it is in `findGroupUses` (src/store).
ALTER TABLE api_keys DROP CONSTRAINT api_keys_practice_group_id_fkey;
ALTER TABLE webhooks DROP CONSTRAINT webhooks_practice_group_id_fkey;
ALTER TABLE write_to_record_jobs DROP CONSTRAINT write_to_record_jobs_practice_group_id_fkey;
CREATE TRIGGER api_keys_of_group BEFORE INSERT OR UPDATE OF practice_group_id ON api_keys
  FOR EACH ROW EXECUTE FUNCTION require_practice_group();
CREATE TRIGGER webhooks_of_group BEFORE INSERT OR UPDATE OF practice_group_id ON webhooks
  FOR EACH ROW WHEN (NEW.practice_group_id IS NOT NULL) EXECUTE FUNCTION require_practice_group();
CREATE TRIGGER write_to_record_jobs_of_group BEFORE INSERT OR UPDATE OF practice_group_id ON write_to_record_jobs
  FOR EACH ROW EXECUTE FUNCTION require_practice_group();

-- ---- Versions of the source ----

-- The version that the practice software gave to what it sent; null: none. An older one never takes the place of a newer one.
ALTER TABLE practice_groups ADD COLUMN source_version bigint;
ALTER TABLE forms ADD COLUMN source_version bigint;
ALTER TABLE assignees ADD COLUMN source_version bigint;
ALTER TABLE submission_types ADD COLUMN source_version bigint;

-- Tombstones: the highest versions that something had when it was removed. A row stays also when the thing is made anew, takes about 100 bytes, and is
-- there for good, because an old version may arrive at any time.
CREATE TABLE removed_items (
  practice_group_id text NOT NULL,
  kind              text NOT NULL CHECK (kind IN ('practice_group', 'form', 'assignee', 'submission_type')),
  -- Of an assignee; else empty.
  assignee_type     text NOT NULL,
  id                text NOT NULL,
  source_version    bigint,
  -- Of a submission type: one that is made anew counts on from there, so that an ETag never means two things.
  version           integer NOT NULL DEFAULT 0,
  removed_at        timestamptz NOT NULL,
  PRIMARY KEY (practice_group_id, kind, assignee_type, id)
);
ALTER TABLE removed_items ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY no_tenant ON removed_items USING ((SELECT porter_sees_all()));
