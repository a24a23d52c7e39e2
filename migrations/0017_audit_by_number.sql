-- A stretch of time in the audit is found by halving its numbers (`firstSeqAt` in store/audit.ts), so nothing reads this index
-- any more, and every update that is audited paid for it.
DROP INDEX audit_entries_by_time;
