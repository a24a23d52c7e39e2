import type {
  createErasure as createEndpoint,
  Erasure,
  getErasure as getEndpoint,
  listErasures as listEndpoint,
} from '../contract/operator/erasures.ts';
import { Problem } from '../contract/problems.ts';
import { ruleBroken } from '../contract/rules.ts';
import { REDACTION } from '../domain/audit-chain.ts';
import { newId } from '../domain/ids.ts';
import { readAuditHead } from '../store/audit.ts';
import { type Transaction, transact } from '../store/database.ts';
import {
  type ErasedEvents,
  eraseAccessLog,
  eraseEvents,
  eraseFormSubmissions,
  eraseJobs,
  eraseRefusals,
  findErasure,
  insertErasure,
  listErasurePage,
  redactAuditEntries,
  type Target,
} from '../store/erasures.ts';
import { wasEverGroup } from '../store/practice-groups.ts';
import { type App, nowIso, type OperatorCall } from './app.ts';

type Call = OperatorCall<typeof createEndpoint>;

/**
 * Erases an object, store by store, in short transactions: one that fails in between is made again by the caller, and goes on with what
 * is left. Each step says in the audit what it redacted there, in its own transaction, and the last one what the erasure came to.
 */
export async function createErasure(app: App, call: Call) {
  const { practice_group_id: groupId, object, object_id: objectId } = call.body;
  const inTransaction = <T>(work: (tx: Transaction) => Promise<T>) => transact(app.db, call.principal, work);
  const created_at = nowIso(app);
  const pseudonym = newId('era', app.clock.now(), app.random);
  const target: Target = { groupId, object, objectId, pseudonym };
  if (!(await inTransaction((tx) => wasEverGroup(tx, groupId)))) throw ruleBroken('practice_group_unknown');
  // What this node has heard of and not written yet is erased as well.
  await app.refusals.flush();

  const events = await eraseAllEvents(app, call, target);
  const [form_submissions, write_to_record_jobs] = await inTransaction(async (tx) => [
    await eraseFormSubmissions(tx, target),
    await eraseJobs(tx, target),
  ]);
  const refused_requests = await eraseAllRefusals(app, call, target);
  const audit_entries = await redactAudit(app, call, target);
  // Workers look twice a second whether a webhook has changed, and then drop what they fetched ahead; other nodes write down what
  // was read within a second.
  await app.access.settle();
  await app.accessLog.flush();
  const access_log_entries = await inTransaction((tx) => eraseAccessLog(tx, target));

  const { recipients, ...counts } = events;
  const erasure: Erasure = {
    id: pseudonym,
    practice_group_id: groupId,
    object,
    operator_id: call.principal.operatorId,
    created_at,
    erased: {
      ...counts,
      form_submissions,
      write_to_record_jobs,
      audit_entries,
      refused_requests,
      access_log_entries,
    },
    recipients,
  };
  await inTransaction(async (tx) => {
    insertErasure(tx, erasure);
    tx.audit(record(call, target, created_at, 'erasure.create', erasure));
  });
  return { body: erasure };
}

async function eraseAllEvents(app: App, { principal }: Call, target: Target) {
  const counts = { events: 0, deliveries: 0, deliveries_withdrawn: 0, idempotency_keys: 0 };
  const recipients = new Map<string, Erasure['recipients'][number]>();
  let before: number | null = null;
  do {
    const from: number | null = before;
    const at = nowIso(app);
    const erased: ErasedEvents = await transact(app.db, principal, (tx) =>
      eraseEvents(tx, target, at, from, withdrawal(at)),
    );
    counts.events += erased.events_erased;
    counts.deliveries += erased.deliveries_erased;
    counts.deliveries_withdrawn += erased.deliveries_withdrawn;
    counts.idempotency_keys += erased.idempotency_keys_erased;
    for (const one of erased.recipients ?? []) {
      const known = recipients.get(one.partner_id);
      recipients.set(one.partner_id, {
        partner_id: one.partner_id,
        deliveries: one.deliveries + (known?.deliveries ?? 0),
        last_at: known && known.last_at > one.last_at ? known.last_at : one.last_at,
      });
    }
    before = erased.next_position;
  } while (before !== null);
  return { ...counts, recipients: [...recipients.values()] };
}

/** What the log of a delivery says that was still queued, as a list of one attempt (contract/attempts.ts). */
function withdrawal(at: string): string {
  return JSON.stringify([
    {
      at,
      outcome: 'failed',
      status: null,
      phase: null,
      code: 'erased',
      diagnosis: 'Withdrawn: the object of this event was erased. Nothing more is sent.',
      duration_ms: 0,
      answer: null,
    },
  ]);
}

async function eraseAllRefusals(app: App, { principal }: Call, target: Target): Promise<number> {
  let count = 0;
  let before: number | undefined;
  do {
    const from: number | undefined = before;
    const erased = await transact(app.db, principal, (tx) => eraseRefusals(tx, target, from));
    count += erased.count;
    before = erased.nextNo;
  } while (before !== undefined);
  return count;
}

async function redactAudit(app: App, call: Call, target: Target): Promise<number> {
  const head = await transact(app.db, call.principal, readAuditHead);
  let before: number | undefined = (head?.seq ?? 0) + 1;
  let count = 0;
  while (before !== undefined) {
    const from: number = before;
    const { redacted, nextSeq } = await transact(app.db, call.principal, async (tx) => {
      const stretch = await redactAuditEntries(tx, target, from, head?.cell ?? 0);
      if (stretch.redacted.length > 0)
        tx.audit(record(call, target, nowIso(app), REDACTION, { redacted: stretch.redacted }));
      return stretch;
    });
    count += redacted.length;
    before = nextSeq;
  }
  return count;
}

function record({ principal, requestId }: Call, target: Target, at: string, action: string, after: unknown) {
  return {
    at,
    principal,
    action,
    subject: { type: 'erasure', id: target.pseudonym },
    practiceGroupId: target.groupId,
    requestId,
    before: null,
    after,
  };
}

export async function listErasures(app: App, call: OperatorCall<typeof listEndpoint>) {
  return { body: await transact(app.db, call.principal, (tx) => listErasurePage(tx, call.query)) };
}

export async function getErasure(app: App, call: OperatorCall<typeof getEndpoint>) {
  const body = await transact(app.db, call.principal, (tx) => findErasure(tx, call.params.id));
  if (!body) throw new Problem('not_found');
  return { body };
}
