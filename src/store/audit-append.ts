import type { AuditEntry } from '../contract/operator/audit.ts';
import type { Principal } from '../domain/principal.ts';

/** As much of a transaction as appending needs. */
interface Sends {
  defer(text: string, values: readonly unknown[]): void;
}

export interface AuditRecord {
  at: string;
  principal: Principal;
  action: string;
  subject: { type: string; id: string };
  practiceGroupId?: string | undefined;
  requestId: string | null;
  before: unknown;
  after: unknown;
}

/** The part of an entry that is hashed. */
export type AuditBody = Omit<AuditEntry, 'seq' | 'hash'>;

const APPEND = 'SELECT audit_append($1, $2, $3, $4, $5, $6)';

/** Puts the entries at the end of the chain; called as the last thing of a transaction. */
export function appendAudit(tx: Sends, records: readonly AuditRecord[]): void {
  tx.defer(APPEND, [records[0]?.at, ...auditColumns(records), records.map(auditText)]);
}

/** The columns that repeat parts of the text, for searching: actors, actions, subjects, practice groups. */
export function auditColumns(records: readonly AuditRecord[]): (string | null)[][] {
  return [
    records.map(({ principal }) => actorOf(principal).id),
    records.map(({ action }) => action),
    records.map(({ subject }) => subject.id),
    records.map(({ practiceGroupId }) => practiceGroupId ?? null),
  ];
}

/** An entry's text as it is hashed and kept. JSON escapes every control character, so it is always a single line. */
export function auditText(record: AuditRecord): string {
  return JSON.stringify(bodyOf(record));
}

function bodyOf(record: AuditRecord): AuditBody {
  return {
    at: record.at,
    actor: actorOf(record.principal),
    action: record.action,
    subject: record.subject,
    practice_group_id: record.practiceGroupId ?? null,
    request_id: record.requestId,
    before: record.before,
    after: record.after,
  };
}

function actorOf(principal: Principal): AuditBody['actor'] {
  switch (principal.kind) {
    case 'partner':
      return { type: 'partner', id: principal.holder.keyId };
    case 'operator':
      return { type: 'operator', id: principal.operatorId, name: principal.name };
    case 'system':
      return { type: 'system', id: 'porter' };
  }
}
