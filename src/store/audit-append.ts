import type { AuditAction } from '../contract/audit-actions.ts';
import type { AuditEntry } from '../contract/operator/oversight/audit.ts';
import type { GuestPrincipal, PartnerPrincipal, Principal } from '../domain/access/principal.ts';
import { type Sender, sqlFunction } from './sql-functions.ts';

/** As much of a guest as an entry names. */
type NamedGuest = Pick<GuestPrincipal, 'kind' | 'invitationId' | 'name' | 'sessionId'>;

export interface AuditRecord {
  at: string;
  principal: Exclude<Principal, GuestPrincipal> | NamedGuest;
  action: AuditAction;
  subject: { type: string; id: string };
  practiceGroupId?: string | undefined;
  requestId: string | null;
  before: unknown;
  after: unknown;
  /** For entries that name objects of patients: with it gone, the hash of a redacted entry tells nothing to whoever guesses. */
  salt?: string | undefined;
}

/** The part of an entry that is hashed. */
export type AuditBody = Omit<AuditEntry, 'seq' | 'hash'> & { salt?: string };

export const auditAppendSql = sqlFunction('audit_append', {
  at: 'timestamptz',
  actor_ids: 'text[]',
  actions: 'text[]',
  subject_ids: 'text[]',
  group_ids: 'text[]',
  bodies: 'text[]',
});

/**
 * Puts the entries at the end of the chain; called as the last thing of a transaction. What one transaction did has one time, that of its first
 * entry: the column by which entries are searched and the text that is hashed must say the same.
 */
export function appendAudit(sender: Sender, records: readonly [AuditRecord, ...AuditRecord[]]): void {
  const [{ at }] = records;
  void auditAppendSql(sender, {
    at,
    actor_ids: records.map(({ principal }) => actorOf(principal).id),
    actions: records.map(({ action }) => action),
    subject_ids: records.map(({ subject }) => subject.id),
    group_ids: records.map(({ practiceGroupId }) => practiceGroupId ?? null),
    bodies: records.map((record) => auditText({ ...record, at })),
  });
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
    ...(record.salt !== undefined && { salt: record.salt }),
  };
}

const personOf = (person: PartnerPrincipal['person']) =>
  person && { name: person.name, session_id: person.sessionId };

export function actorOf(principal: AuditRecord['principal']): AuditBody['actor'] {
  switch (principal.kind) {
    case 'partner':
      return { type: 'partner', id: principal.holder.keyId, ...personOf(principal.person) };
    case 'guest':
      return { type: 'guest', id: principal.invitationId, ...personOf(principal) };
    case 'operator':
      return {
        type: 'operator',
        id: principal.operatorId,
        name: principal.name,
        ...(principal.approvedBy && { approved_by: principal.approvedBy }),
      };
    case 'system':
      return { type: 'system', id: 'porter' };
  }
}
