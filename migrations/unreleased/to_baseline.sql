-- Brings a database of the 24 migrations from before the first release to 0001_baseline.sql, with all its data. Run once, instead of the baseline.
-- No node may be at work meanwhile. What this does not name is as the baseline has it.

-- Their text is in src/sql from here on. Those that policies and triggers name stay and are replaced.
DROP FUNCTION audit_append, change_submission_type, change_submission_types, claim_deliveries, clear_old, enqueue, fan_out, forget_rates, free_lanes,
  free_lanes_of_the_dead, may_receive, next_turn, place_in, rate_clock_us, record_results, renew_lanes, replay_deliveries, take_rates, with_attempt;

CREATE TABLE cell (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  no      smallint NOT NULL DEFAULT 0 CHECK (no BETWEEN 0 AND 127)
);
INSERT INTO cell DEFAULT VALUES;

CREATE TABLE ehr_health (
  practice_group_id text PRIMARY KEY REFERENCES practice_groups,
  status            text NOT NULL CHECK (status IN ('healthy', 'unhealthy')),
  changed_at        timestamptz NOT NULL
);
INSERT INTO ehr_health SELECT id, ehr_status, updated_at FROM practice_groups WHERE ehr_status <> 'unknown';
ALTER TABLE practice_groups DROP COLUMN ehr_status;
ALTER TABLE ehr_health ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON ehr_health USING ((SELECT porter_sees_all()) OR practice_group_id = ANY ((SELECT porter_tenants())::text[]));

ALTER TABLE write_to_record_jobs DROP CONSTRAINT write_to_record_jobs_pkey;
ALTER TABLE write_to_record_jobs ADD PRIMARY KEY (practice_group_id, id);
DROP INDEX write_to_record_jobs_by_group;
CREATE UNIQUE INDEX write_to_record_jobs_by_id ON write_to_record_jobs (id);
