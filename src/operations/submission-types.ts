import type {
  createSubmissionType as createEndpoint,
  getGroupSubmissionType as getOfGroupEndpoint,
  listGroupSubmissionTypes as listOfGroupEndpoint,
} from '../contract/operator/submission-types.ts';
import type { PageQuery } from '../contract/page.ts';
import type {
  getSubmissionType as getEndpoint,
  listSubmissionTypes as listEndpoint,
  SubmissionType,
  updateSubmissionType as updateEndpoint,
} from '../contract/partner/submission-types.ts';
import { Problem } from '../contract/problems.ts';
import { ruleBroken } from '../contract/rules.ts';
import { etagOf } from '../domain/etag.ts';
import { newId } from '../domain/ids.ts';
import { localTime } from '../domain/local-time.ts';
import type { Principal } from '../domain/principal.ts';
import { brokenRule, type Directory, type StoredSubmissionType } from '../domain/submission-type.ts';
import { isUniqueViolation, type Transaction, transact } from '../store/database.ts';
import { findAssignee, findForm } from '../store/directory.ts';
import { findGroup } from '../store/practice-groups.ts';
import {
  type Counted,
  findSubmissionType,
  insertSubmissionType,
  listSubmissionTypePage,
} from '../store/submission-types.ts';
import type { App, OperatorCall, PartnerCall } from './app.ts';
import { nowIso } from './app.ts';

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
}

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
      throw new Problem('conflict', {
        message: `The practice group has a submission type ${id} already. Update it, or choose another ID.`,
      });
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

/** What callers see: the stored record without its inner fields, with the day's count. */
function presentSubmissionType({ type, submittedToday }: Counted): SubmissionType {
  const { practice_group_id: _group, version: _version, ...fields } = type;
  return { ...fields, forms_submitted_today: submittedToday };
}
