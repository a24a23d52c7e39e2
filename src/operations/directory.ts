import type {
  Assignee,
  Form,
  getAssignee as getAssigneeEndpoint,
  getForm as getFormEndpoint,
  listAssignees as listAssigneesEndpoint,
  listForms as listFormsEndpoint,
  putAssignee as putAssigneeEndpoint,
  putForm as putFormEndpoint,
} from '../contract/operator/directory.ts';
import { Problem } from '../contract/problems.ts';
import { type Transaction, transact } from '../store/database.ts';
import {
  findAssignee,
  findForm,
  listAssigneePage,
  listFormPage,
  upsertAssignee,
  upsertForm,
} from '../store/directory.ts';
import { findGroup, lockGroup } from '../store/practice-groups.ts';
import { type Actor, type App, nowIso, type OperatorCall } from './app.ts';

export async function putForm(app: App, call: OperatorCall<typeof putFormEndpoint>) {
  const { id: groupId, form_id } = call.params;
  const body = await transact(app.db, call.principal, async (tx): Promise<Form> => {
    // The lock keeps two first descriptions of the same form from both being "new" in the audit trail.
    if (!(await lockGroup(tx, groupId))) throw new Problem('not_found');
    const before = await findForm(tx, groupId, form_id);
    if (before?.title === call.body.title) return before;
    const now = nowIso(app);
    const after = {
      id: form_id,
      title: call.body.title,
      created_at: before?.created_at ?? now,
      updated_at: now,
    };
    upsertForm(tx, groupId, after);
    audit(tx, call, now, 'form', groupId, before, after);
    return after;
  });
  return { body };
}

export async function listForms(app: App, call: OperatorCall<typeof listFormsEndpoint>) {
  const body = await transact(app.db, call.principal, async (tx) => {
    await mustExist(tx, call.params.id);
    return listFormPage(tx, call.params.id, call.query);
  });
  return { body };
}

export async function getForm(app: App, call: OperatorCall<typeof getFormEndpoint>) {
  const { id, form_id } = call.params;
  const body = await transact(app.db, call.principal, (tx) => findForm(tx, id, form_id));
  if (!body) throw new Problem('not_found');
  return { body };
}

export async function putAssignee(app: App, call: OperatorCall<typeof putAssigneeEndpoint>) {
  const { id: groupId, assignee_type: type, assignee_id: id } = call.params;
  const body = await transact(app.db, call.principal, async (tx): Promise<Assignee> => {
    if (!(await lockGroup(tx, groupId))) throw new Problem('not_found');
    const before = await findAssignee(tx, groupId, type, id);
    if (before?.name === call.body.name) return before;
    const now = nowIso(app);
    const after = { id, type, name: call.body.name, created_at: before?.created_at ?? now, updated_at: now };
    upsertAssignee(tx, groupId, after);
    audit(tx, call, now, 'assignee', groupId, before, after);
    return after;
  });
  return { body };
}

export async function listAssignees(app: App, call: OperatorCall<typeof listAssigneesEndpoint>) {
  const body = await transact(app.db, call.principal, async (tx) => {
    await mustExist(tx, call.params.id);
    return listAssigneePage(tx, call.params.id, call.query);
  });
  return { body };
}

export async function getAssignee(app: App, call: OperatorCall<typeof getAssigneeEndpoint>) {
  const { id, assignee_type, assignee_id } = call.params;
  const body = await transact(app.db, call.principal, (tx) =>
    findAssignee(tx, id, assignee_type, assignee_id),
  );
  if (!body) throw new Problem('not_found');
  return { body };
}

async function mustExist(tx: Transaction, groupId: string): Promise<void> {
  if (!(await findGroup(tx, groupId))) throw new Problem('not_found');
}

function audit(
  tx: Transaction,
  { principal, requestId }: Actor,
  at: string,
  type: 'form' | 'assignee',
  practiceGroupId: string,
  before: Form | Assignee | undefined,
  after: Form | Assignee,
): void {
  tx.audit({
    at,
    principal,
    action: `${type}.put`,
    subject: { type, id: after.id },
    practiceGroupId,
    requestId,
    before: before ?? null,
    after,
  });
}
