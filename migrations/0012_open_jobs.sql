-- Jobs that are to be looked after: few among all that succeeded and are kept.
CREATE INDEX write_to_record_jobs_open ON write_to_record_jobs (status, id) WHERE status <> 'succeeded';
