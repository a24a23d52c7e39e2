import type { AuditAction } from '../../contract/audit-actions.ts';
import { events } from '../../contract/events.ts';
import {
  createErasure as createEndpoint,
  type Erasure,
  getErasure as getEndpoint,
  listErasures as listEndpoint,
} from '../../contract/operator/oversight/erasures.ts';
import { Problem, ValidationProblem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import { newId } from '../../domain/ids.ts';
import { REDACTION } from '../../domain/oversight/audit-chain.ts';
import { type Found, NOTHING_YET, withFound } from '../../domain/oversight/erasure.ts';
import { nearest } from '../../domain/oversight/nearest.ts';
import { Outage } from '../../platform/outage.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { readAuditHead } from '../../store/oversight/audit.ts';
import {
  beginErasure,
  eraseAccessLog,
  eraseEvents,
  eraseFormSubmissions,
  eraseJobs,
  eraseRefusals,
  feedReaders,
  findErasure,
  finishErasure,
  isWritten,
  listErasurePage,
  lockErasure,
  putErasure,
  redactAuditEntries,
  type Target,
} from '../../store/oversight/erasures.ts';
import { wasEverGroup } from '../../store/practices/practice-groups.ts';
import { type App, nowIso, type OperatorCall, operation } from '../app.ts';

type Call = OperatorCall<typeof createEndpoint>;
/** A step of the erasure: a transaction that also adds to the record of the erasure what it found. */
type Step = <F extends Found>(work: (tx: Transaction) => Promise<F>) => Promise<F>;

/**
 * Erases an object, store by store, in short transactions, each of which adds what it found to the record of the erasure: what is erased
 * cannot be asked any more who had been told of it. One that is broken off in between, at whatever point, is made again by the caller, and
 * goes on with what is left. Each step says in the audit what it redacted there, in its own transaction, the first one that
 * it begins, and the last one what it came to.
 */
export const createErasure = operation(createEndpoint, async (app, call) => {
  const at = nowIso(app);
  const target = await begin(app, call, at);
  const step: Step = (work) =>
    transact(app.db, call.principal, async (tx) => {
      const erasure = await lockErasure(tx, target.pseudonym);
      const found = await work(tx);
      putErasure(tx, withFound(erasure, found));
      return found;
    });
  // What this node has heard of and not written yet is erased as well: written later, it would stay.
  if (!(await app.refusals.flush())) throw new Outage('refused calls wait to be written');

  await eraseAllEvents(app, step, target);
  await step(async (tx) => ({
    erased: {
      form_submissions: await eraseFormSubmissions(tx, target),
      write_to_record_jobs: await eraseJobs(tx, target),
    },
  }));
  await eraseAllRefusals(step, target);
  await redactAudit(app, call, step, target);
  // Workers look twice a second whether a webhook has changed, and then drop what they fetched ahead; other nodes write down what
  // was read within a second.
  await app.access.settle();
  if (!(await app.accessLog.flush())) throw new Outage('the access log waits to be written');
  return { body: await finish(app, call, target, at) };
});

/** The last step: the access log, and who had read what was in the feed. */
function finish(app: App, call: Call, target: Target, at: string): Promise<Erasure> {
  return transact(app.db, call.principal, async (tx) => {
    const { places, ...begun } = await lockErasure(tx, target.pseudonym);
    const readers = await feedReaders(tx, target.groupId, places);
    const { redacted, recipients } = await eraseAccessLog(tx, target);
    const { places: _, ...all } = withFound(
      { ...begun, places: [] },
      { erased: { access_log_entries: redacted }, recipients: [...readers, ...(recipients ?? [])] },
    );
    const erasure = { ...all, finished: true };
    finishErasure(tx, erasure);
    tx.audit(record(call, target, at, 'erasure.create', erasure));
    return erasure;
  });
}

/** A new erasure, or the one that was broken off. */
function begin(app: App, call: Call, at: string): Promise<Target> {
  const { practice_group_id: groupId, object_id: objectId } = call.body;
  return transact(app.db, call.principal, async (tx) => {
    if (!(await wasEverGroup(tx, groupId))) throw ruleBroken('practice_group_unknown');
    const object = await objectNamed(tx, groupId, call.body.object);
    const erasure: Erasure = {
      id: newId('era', app.clock.now(), app.random),
      practice_group_id: groupId,
      object,
      operator_id: call.principal.operatorId,
      created_at: at,
      finished: false,
      ...NOTHING_YET,
    };
    const hashes = app.sealer.hashesOf(JSON.stringify([groupId, object, objectId]));
    const id = await beginErasure(tx, erasure, hashes);
    const target = { groupId, object, objectId, pseudonym: id };
    if (id === erasure.id) tx.audit(record(call, target, at, 'erasure.begin', erasure));
    return target;
  });
}

/** Of patients. */
const OBJECTS = [...new Set(Object.values(events).map(({ object }) => object as string))].filter(
  (object) => object !== 'EhrHealthStatus',
);

/** As events name it. Whoever misspells it would be told that there was nothing to erase, unless it is what a job is to write. */
async function objectNamed(tx: Transaction, groupId: string, named: string): Promise<string> {
  const meant = nearest(
    named.toLowerCase(),
    OBJECTS.map((object) => object.toLowerCase()),
  );
  const object = OBJECTS.find((one) => one.toLowerCase() === meant);
  if (object === undefined || meant === named.toLowerCase()) return object ?? named;
  if (await isWritten(tx, groupId, named)) return named;
  const message = `Events name no such object. ${OBJECTS.join(', ')}: it is probably ${object}.`;
  throw new ValidationProblem([{ code: 'invalid_value', expected: 'string', path: ['object'], message }]);
}

async function eraseAllEvents(app: App, step: Step, target: Target): Promise<void> {
  let before: number | null = null;
  do {
    const from: number | null = before;
    const at = nowIso(app);
    const { next } = await step(async (tx) => {
      const found = await eraseEvents(tx, target, at, from, withdrawal(at));
      return {
        erased: {
          events: found.events_erased,
          deliveries: found.deliveries_erased,
          deliveries_withdrawn: found.deliveries_withdrawn,
          idempotency_keys: found.idempotency_keys_erased,
        },
        recipients: found.recipients ?? [],
        places: (found.places ?? []).map((place) => ({ ...place, at: nowIso(app) })),
        next: found.next_position,
      };
    });
    before = next;
  } while (before !== null);
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

async function eraseAllRefusals(step: Step, target: Target): Promise<void> {
  let before: number | undefined;
  do {
    const from: number | undefined = before;
    const { next } = await step(async (tx) => {
      const { count, nextNo } = await eraseRefusals(tx, target, from);
      return { erased: { refused_requests: count }, next: nextNo };
    });
    before = next;
  } while (before !== undefined);
}

async function redactAudit(app: App, call: Call, step: Step, target: Target): Promise<void> {
  const head = await transact(app.db, call.principal, readAuditHead);
  let before: number | undefined = (head?.seq ?? 0) + 1;
  while (before !== undefined) {
    const from: number = before;
    const { next } = await step(async (tx) => {
      const { redacted, nextSeq } = await redactAuditEntries(tx, target, from, head?.cell ?? 0);
      if (redacted.length > 0) tx.audit(record(call, target, nowIso(app), REDACTION, { redacted }));
      return { erased: { audit_entries: redacted.length }, next: nextSeq };
    });
    before = next;
  }
}

function record(
  { principal, requestId }: Call,
  target: Pick<Target, 'groupId' | 'pseudonym'>,
  at: string,
  action: AuditAction,
  after: unknown,
) {
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

export const listErasures = operation(listEndpoint, async (app, call) => {
  return { body: await transact(app.db, call.principal, (tx) => listErasurePage(tx, call.query)) };
});

export const getErasure = operation(getEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, (tx) => findErasure(tx, call.params.id));
  if (!body) throw new Problem('not_found');
  return { body };
});
