import type { AuditAction } from '../../contract/audit-actions.ts';
import {
  createSubmissionType as createEndpoint,
  deleteSubmissionType as deleteEndpoint,
  getGroupSubmissionType as getOfGroupEndpoint,
  listGroupSubmissionTypes as listOfGroupEndpoint,
  updateGroupSubmissionType as updateOfGroupEndpoint,
} from '../../contract/operator/practices/submission-types.ts';
import type { PageQuery } from '../../contract/page.ts';
import {
  getSubmissionType as getEndpoint,
  listSubmissionTypes as listEndpoint,
  type SubmissionType,
  updateSubmissionType as updateEndpoint,
} from '../../contract/partner/submission-types.ts';
import { Problem } from '../../contract/problems.ts';
import { ruleBroken } from '../../contract/rules.ts';
import type { Principal } from '../../domain/access/principal.ts';
import { newId } from '../../domain/ids.ts';
import { etagOf, ifMatchHolds } from '../../domain/practices/etag.ts';
import { localTime } from '../../domain/practices/local-time.ts';
import {
  applyPatch,
  brokenRule,
  type Directory,
  type StoredSubmissionType,
  submissionTypeDefaults,
} from '../../domain/practices/submission-type.ts';
import type { AuditRecord } from '../../store/audit-append.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import { holdDirectory } from '../../store/practices/directory.ts';
import { findGroup } from '../../store/practices/practice-groups.ts';
import { continueVersion, removeWithTombstone } from '../../store/practices/removed-items.ts';
import {
  type Counted,
  findSubmissionType,
  findSubmissionTypes,
  insertSubmissionType,
  listSubmissionTypePage,
  lockSubmissionTypes,
  updateSubmissionTypeRow,
} from '../../store/practices/submission-types.ts';
import { overruleProposals } from '../../store/practices/write-through.ts';
import { type App, nowIso, type OperatorCall, operation } from '../app.ts';

// ---- Partners ----

export const listSubmissionTypes = operation(listEndpoint, async (app, call) => {
  const { id: groupId, timezone } = call.principal.group;
  return { body: await pageOfGroup(app, call.principal, groupId, timezone, call.query) };
});

export const getSubmissionType = operation(getEndpoint, async (app, call) => {
  const { id: groupId, timezone } = call.principal.group;
  const { day } = localTime(app.clock.now(), timezone);
  const found = await transact(app.db, call.principal, (tx) =>
    findSubmissionType(tx, groupId, call.params.id, day),
  );
  if (!found) throw new Problem('not_found');
  return { body: presentSubmissionType(found), etag: etagOf(found.type.version) };
});

export const updateSubmissionType = operation(updateEndpoint, async (app, call) => {
  // What the practice software is asked about first goes another way, so that nobody else waits for its answer.
  const updates = call.principal.group.writes_through ? app.writeThrough : app.updates;
  const outcome = await updates.submit({
    principal: call.principal,
    id: call.params.id,
    patch: call.body,
    ifMatch: call.ifMatch,
    requestId: call.requestId,
  });
  if (outcome instanceof Error) throw outcome;
  return { body: presentSubmissionType(outcome), etag: etagOf(outcome.type.version) };
});

// ---- Operators ----

export const createSubmissionType = operation(createEndpoint, async (app, call) => {
  const groupId = call.params.id;
  const { id = newId('st', app.clock.now(), app.random), pathway_id, ...settings } = call.body;
  const now = nowIso(app);
  const type: StoredSubmissionType = {
    ...submissionTypeDefaults,
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
      const group = await findGroup(tx, groupId);
      if (!group) throw new Problem('not_found');
      const broken = brokenRule(type, settings, await directoryFor(tx, type));
      if (broken) throw ruleBroken(broken);
      await insertSubmissionType(tx, type);
      continueVersion(tx, groupId, id);
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
      throw new Problem('conflict', {
        message: `The practice group has a submission type ${id} already. Update it, or choose another ID.`,
      });
    throw error;
  }
  return { body: presentSubmissionType(created) };
});

/** Of the form and the assignee that the type points to, or is to point to. */
async function directoryFor(tx: Transaction, type: StoredSubmissionType): Promise<Directory> {
  const { hasForm, hasAssignee } = await holdDirectory(tx, type.practice_group_id, type);
  return { hasForm: () => hasForm, hasAssignee: () => hasAssignee };
}

/** Under a lock, unlike the update by partners: it is rare, and no change by a partner. */
export const updateGroupSubmissionType = operation(updateOfGroupEndpoint, async (app, call) => {
  const updated = await transact(app.db, call.principal, async (tx): Promise<Counted> => {
    const found = await lockOne(app, tx, call);
    const merged = { ...found.type, ...call.body } as StoredSubmissionType;
    const now = nowIso(app);
    const result = applyPatch(found.type, call.body, await directoryFor(tx, merged), now);
    if (result.outcome === 'refused') throw ruleBroken(result.rule);
    if (result.outcome === 'unchanged') {
      const { id: groupId, submission_type_id: id } = call.params;
      const version = (await overruleProposals(tx, [{ groupId, id }])) ?? found.type.version;
      return { ...found, type: { ...found.type, version } };
    }
    updateSubmissionTypeRow(tx, result.next);
    tx.audit(recordOf(call, now, 'submission_type.update', result.before, result.after));
    return { ...found, type: result.next };
  });
  return { body: presentSubmissionType(updated), etag: etagOf(updated.type.version) };
});

export const deleteSubmissionType = operation(deleteEndpoint, async (app, call) => {
  const { id: groupId, submission_type_id: id } = call.params;
  await transact(app.db, call.principal, async (tx) => {
    const found = await lockOne(app, tx, call);
    const now = nowIso(app);
    removeWithTombstone(tx, 'submission_type', [{ groupId, id }], now);
    tx.audit(recordOf(call, now, 'submission_type.delete', presentSubmissionType(found), null));
  });
  return { body: undefined };
});

type OneOfGroup = Pick<
  OperatorCall<typeof updateOfGroupEndpoint>,
  'params' | 'ifMatch' | 'principal' | 'requestId'
>;

/** Locks first and reads then: what it was changed to meanwhile is what is changed now. */
async function lockOne(app: App, tx: Transaction, { params, ifMatch }: OneOfGroup): Promise<Counted> {
  const { id: groupId, submission_type_id: id } = params;
  const group = await findGroup(tx, groupId);
  if (!group) throw new Problem('not_found');
  const wanted = [{ groupId, id, localDay: localTime(app.clock.now(), group.timezone).day }];
  lockSubmissionTypes(tx, wanted);
  const [found] = await findSubmissionTypes(tx, wanted);
  if (!found) throw new Problem('not_found');
  if (!ifMatchHolds(ifMatch, etagOf(found.type.version))) throw new Problem('precondition_failed');
  return found;
}

function recordOf(
  { params, principal, requestId }: OneOfGroup,
  at: string,
  action: AuditAction,
  before: unknown,
  after: unknown,
): AuditRecord {
  const { id: practiceGroupId, submission_type_id: id } = params;
  return {
    at,
    principal,
    action,
    subject: { type: 'submission_type', id },
    practiceGroupId,
    requestId,
    before,
    after,
  };
}

export const listGroupSubmissionTypes = operation(listOfGroupEndpoint, async (app, call) => {
  const groupId = call.params.id;
  const timeZone = await timeZoneOf(app, call.principal, groupId);
  return { body: await pageOfGroup(app, call.principal, groupId, timeZone, call.query) };
});

export const getGroupSubmissionType = operation(getOfGroupEndpoint, async (app, call) => {
  const groupId = call.params.id;
  const timeZone = await timeZoneOf(app, call.principal, groupId);
  const found = await transact(app.db, call.principal, (tx) =>
    findSubmissionType(tx, groupId, call.params.submission_type_id, localTime(app.clock.now(), timeZone).day),
  );
  if (!found) throw new Problem('not_found');
  return { body: presentSubmissionType(found), etag: etagOf(found.type.version) };
});

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

/** What callers see: the stored record without its inner fields, with the day's count. */
function presentSubmissionType({ type, submittedToday }: Counted): SubmissionType {
  const { practice_group_id: _group, version: _version, ...fields } = type;
  return { ...fields, forms_submitted_today: submittedToday };
}
