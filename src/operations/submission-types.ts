import type {
  createSubmissionType as createEndpoint,
  getGroupSubmissionType as getOfGroupEndpoint,
  listGroupSubmissionTypes as listOfGroupEndpoint,
} from '../contract/operator/submission-types.ts';
import type { PageQuery } from '../contract/page.ts';
import type {
  getSubmissionType as getEndpoint,
  listSubmissionTypes as listEndpoint,
  SubmissionTypePatch,
  updateSubmissionType as updateEndpoint,
} from '../contract/partner/submission-types.ts';
import { Problem } from '../contract/problems.ts';
import { ruleBroken } from '../contract/rules.ts';
import { newId } from '../domain/ids.ts';
import { localTime } from '../domain/local-time.ts';
import type { PartnerPrincipal, Principal } from '../domain/principal.ts';
import {
  applyPatch,
  brokenRule,
  type Directory,
  etagOf,
  ifMatchHolds,
  type StoredSubmissionType,
} from '../domain/submission-type.ts';
import type { AuditRecord } from '../store/audit-append.ts';
import { isUniqueViolation, type Transaction, transact } from '../store/database.ts';
import { findAssignee, findForm } from '../store/directory.ts';
import { findGroup } from '../store/practice-groups.ts';
import {
  type Counted,
  findDirectoryEntries,
  findSubmissionType,
  insertSubmissionType,
  listSubmissionTypePage,
  lockSubmissionTypes,
  presentSubmissionType,
  updateSubmissionTypes,
  type Wanted,
} from '../store/submission-types.ts';
import type { App, OperatorCall, PartnerCall } from './app.ts';
import { nowIso } from './app.ts';
import { Gatherer } from './gather.ts';

// ---- Partners ----

export async function listSubmissionTypes(app: App, call: PartnerCall<typeof listEndpoint>) {
  const { id: groupId, timezone } = call.principal.group;
  return { body: await pageOfGroup(app, call.principal, groupId, timezone, call.query) };
}

export async function getSubmissionType(app: App, call: PartnerCall<typeof getEndpoint>) {
  const { id: groupId, timezone } = call.principal.group;
  const { day } = localTime(app.clock.now(), timezone);
  const found = await transact(app.db, call.principal, (tx) =>
    findSubmissionType(tx, groupId, call.params.id, day),
  );
  if (!found) throw new Problem('not_found');
  return { body: presentSubmissionType(found), etag: etagOf(found.type.version) };
}

export async function updateSubmissionType(app: App, call: PartnerCall<typeof updateEndpoint>) {
  const outcome = await app.updates.submit({
    principal: call.principal,
    id: call.params.id,
    patch: call.body,
    ifMatch: call.ifMatch,
    requestId: call.requestId,
  });
  if (outcome instanceof Problem) throw outcome;
  return { body: presentSubmissionType(outcome), etag: etagOf(outcome.type.version) };
}

// ---- The gathered update ----

interface Update {
  principal: PartnerPrincipal;
  id: string;
  patch: SubmissionTypePatch;
  ifMatch: string | undefined;
  requestId: string;
}

export type UpdateGatherer = Gatherer<Update, Counted | Problem>;

const UPDATES_MAX = 256;

export function gatherUpdates(app: Pick<App, 'db' | 'clock'>): UpdateGatherer {
  return new Gatherer(UPDATES_MAX, (updates) =>
    transact(
      app.db,
      updates.map((update) => update.principal),
      (tx) => updateTogether(tx, updates, app.clock.now()),
    ),
  );
}

/**
 * One transaction for many updates: lock the rows, decide each update in the order of arrival on what the ones before
 * it left behind, write each changed row once, and leave one audit entry for each update that changed something.
 */
async function updateTogether(
  tx: Transaction,
  updates: readonly Update[],
  nowMs: number,
): Promise<(Counted | Problem)[]> {
  const now = new Date(nowMs).toISOString();
  const wanted = distinctRows(updates, nowMs);
  const [rows, directoryOf] = await Promise.all([
    lockSubmissionTypes(tx, [...wanted.values()]),
    readDirectory(tx, [...wanted.values()], updates),
  ]);

  const current = new Map(rows.map((row) => [rowKey(row.type.practice_group_id, row.type.id), row]));
  const changed = new Map<string, StoredSubmissionType>();
  const records: AuditRecord[] = [];

  const outcomes = updates.map((update): Counted | Problem => {
    const groupId = update.principal.group.id;
    const key = rowKey(groupId, update.id);
    const row = current.get(key);
    if (!row) return new Problem('not_found');
    if (!ifMatchHolds(update.ifMatch, etagOf(row.type.version))) return new Problem('precondition_failed');

    const result = applyPatch(row.type, update.patch, directoryOf(groupId), now);
    if (result.outcome === 'refused') return ruleBroken(result.rule);
    if (result.outcome === 'unchanged') return row;

    const next = { type: result.next, submittedToday: row.submittedToday };
    current.set(key, next);
    changed.set(key, result.next);
    records.push({
      at: now,
      principal: update.principal,
      action: 'submission_type.update',
      subject: { type: 'submission_type', id: update.id },
      practiceGroupId: groupId,
      requestId: update.requestId,
      before: result.before,
      after: result.after,
    });
    return next;
  });

  if (changed.size > 0) updateSubmissionTypes(tx, [...changed.values()]);
  tx.audit(...records);
  return outcomes;
}

function distinctRows(updates: readonly Update[], nowMs: number): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const { principal, id } of updates) {
    const { id: groupId, timezone } = principal.group;
    const key = rowKey(groupId, id);
    if (!wanted.has(key)) wanted.set(key, { groupId, id, localDay: localTime(nowMs, timezone).day });
  }
  return wanted;
}

/** Asks for forms and assignees only when an update points to one; most do not. */
async function readDirectory(
  tx: Transaction,
  wanted: readonly Wanted[],
  updates: readonly Update[],
): Promise<(groupId: string) => Directory> {
  const named = updates
    .filter(({ patch }) => 'form_id' in patch || 'assignee_id' in patch || 'assignee_type' in patch)
    .map(({ principal, patch }) => ({
      groupId: principal.group.id,
      formId: patch.form_id ?? null,
      assigneeId: patch.assignee_id ?? null,
    }));
  const entries = named.length === 0 ? [] : await findDirectoryEntries(tx, wanted, named);
  const known = new Set(entries.map((entry) => directoryKey(entry.practice_group_id, entry.type, entry.id)));
  return (groupId) => ({
    hasForm: (id) => known.has(directoryKey(groupId, null, id)),
    hasAssignee: (type, id) => known.has(directoryKey(groupId, type, id)),
  });
}

const rowKey = (groupId: string, id: string) => `${groupId} ${id}`;
const directoryKey = (groupId: string, type: string | null, id: string) =>
  `${groupId} ${type ?? 'form'} ${id}`;

// ---- Operators ----

export async function createSubmissionType(app: App, call: OperatorCall<typeof createEndpoint>) {
  const groupId = call.params.id;
  const { id = newId('st', app.clock.now(), app.random), pathway_id, ...settings } = call.body;
  const now = nowIso(app);
  const type: StoredSubmissionType = {
    form_id: null,
    description: null,
    in_hours: true,
    out_of_hours: true,
    suspended: false,
    external_url: null,
    external_url_name: null,
    type: null,
    default_priority: 'medium',
    daily_limit: null,
    patient_eligibility_check: false,
    assignee_id: null,
    assignee_type: null,
    order: null,
    ...(settings as Pick<StoredSubmissionType, 'title'> & Partial<StoredSubmissionType>),
    practice_group_id: groupId,
    id,
    pathway_id,
    version: 1,
    created_at: now,
    updated_at: now,
  };
  const created: Counted = { type, submittedToday: 0 };
  try {
    await transact(app.db, call.principal, async (tx) => {
      if (!(await findGroup(tx, groupId))) throw new Problem('not_found');
      const broken = brokenRule(type, settings, await directoryFor(tx, type));
      if (broken) throw ruleBroken(broken);
      await insertSubmissionType(tx, type);
      tx.audit({
        at: now,
        principal: call.principal,
        action: 'submission_type.create',
        subject: { type: 'submission_type', id },
        practiceGroupId: groupId,
        requestId: call.requestId,
        before: null,
        after: presentSubmissionType(created),
      });
    });
  } catch (error) {
    if (isUniqueViolation(error))
      throw new Problem('conflict', { message: `The practice group has a submission type ${id} already.` });
    throw error;
  }
  return { body: presentSubmissionType(created) };
}

async function directoryFor(tx: Transaction, type: StoredSubmissionType): Promise<Directory> {
  const { practice_group_id: groupId, form_id, assignee_id, assignee_type } = type;
  const form = form_id !== null && (await findForm(tx, groupId, form_id));
  const assignee =
    assignee_id !== null &&
    assignee_type !== null &&
    (await findAssignee(tx, groupId, assignee_type, assignee_id));
  return { hasForm: () => Boolean(form), hasAssignee: () => Boolean(assignee) };
}

export async function listGroupSubmissionTypes(app: App, call: OperatorCall<typeof listOfGroupEndpoint>) {
  const groupId = call.params.id;
  const timeZone = await timeZoneOf(app, call.principal, groupId);
  return { body: await pageOfGroup(app, call.principal, groupId, timeZone, call.query) };
}

export async function getGroupSubmissionType(app: App, call: OperatorCall<typeof getOfGroupEndpoint>) {
  const groupId = call.params.id;
  const timeZone = await timeZoneOf(app, call.principal, groupId);
  const found = await transact(app.db, call.principal, (tx) =>
    findSubmissionType(tx, groupId, call.params.submission_type_id, localTime(app.clock.now(), timeZone).day),
  );
  if (!found) throw new Problem('not_found');
  return { body: presentSubmissionType(found) };
}

async function timeZoneOf(app: App, principal: Principal, groupId: string): Promise<string> {
  const group = await transact(app.db, principal, (tx) => findGroup(tx, groupId));
  if (!group) throw new Problem('not_found');
  return group.timezone;
}

async function pageOfGroup(
  app: App,
  principal: Principal,
  groupId: string,
  timeZone: string,
  query: PageQuery,
) {
  const { day } = localTime(app.clock.now(), timeZone);
  const page = await transact(app.db, principal, (tx) => listSubmissionTypePage(tx, groupId, day, query));
  return { ...page, data: page.data.map(presentSubmissionType) };
}
