import {
  type Assignee,
  deleteAssignee as deleteAssigneeEndpoint,
  deleteForm as deleteFormEndpoint,
  type Form,
  getAssignee as getAssigneeEndpoint,
  getForm as getFormEndpoint,
  listAssignees as listAssigneesEndpoint,
  listForms as listFormsEndpoint,
  putAssignee as putAssigneeEndpoint,
  putForm as putFormEndpoint,
} from '../../contract/operator/practices/directory.ts';
import { Problem } from '../../contract/problems.ts';
import { inUse } from '../../domain/practices/in-use.ts';
import { type Transaction, transact } from '../../store/database.ts';
import {
  deleteAssigneeRow,
  deleteFormRow,
  findAssignee,
  findAssigneeUses,
  findForm,
  findFormUses,
  listAssigneePage,
  listFormPage,
  lockAssignee,
  lockForm,
  upsertAssignee,
  upsertForm,
} from '../../store/practices/directory.ts';
import { findGroup, lockGroup } from '../../store/practices/practice-groups.ts';
import { type Actor, nowIso, operation } from '../app.ts';

export const putForm = operation(putFormEndpoint, async (app, call) => {
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
    audit(tx, call, now, 'form.put', groupId, before, after);
    return after;
  });
  return { body };
});

export const listForms = operation(listFormsEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, async (tx) => {
    await mustExist(tx, call.params.id);
    return listFormPage(tx, call.params.id, call.query);
  });
  return { body };
});

export const getForm = operation(getFormEndpoint, async (app, call) => {
  const { id, form_id } = call.params;
  const body = await transact(app.db, call.principal, (tx) => findForm(tx, id, form_id));
  if (!body) throw new Problem('not_found');
  return { body };
});

export const putAssignee = operation(putAssigneeEndpoint, async (app, call) => {
  const { id: groupId, assignee_type: type, assignee_id: id } = call.params;
  const body = await transact(app.db, call.principal, async (tx): Promise<Assignee> => {
    if (!(await lockGroup(tx, groupId))) throw new Problem('not_found');
    const before = await findAssignee(tx, groupId, type, id);
    if (before?.name === call.body.name) return before;
    const now = nowIso(app);
    const after = { id, type, name: call.body.name, created_at: before?.created_at ?? now, updated_at: now };
    upsertAssignee(tx, groupId, after);
    audit(tx, call, now, 'assignee.put', groupId, before, after);
    return after;
  });
  return { body };
});

export const listAssignees = operation(listAssigneesEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, async (tx) => {
    await mustExist(tx, call.params.id);
    return listAssigneePage(tx, call.params.id, call.query);
  });
  return { body };
});

export const getAssignee = operation(getAssigneeEndpoint, async (app, call) => {
  const { id, assignee_type, assignee_id } = call.params;
  const body = await transact(app.db, call.principal, (tx) =>
    findAssignee(tx, id, assignee_type, assignee_id),
  );
  if (!body) throw new Problem('not_found');
  return { body };
});

export const deleteForm = operation(deleteFormEndpoint, async (app, call) => {
  const { id: groupId, form_id } = call.params;
  await transact(app.db, call.principal, async (tx) => {
    const before = await lockForm(tx, groupId, form_id);
    if (!before) throw new Problem('not_found');
    const used = inUse(`The form ${form_id}`, await findFormUses(tx, groupId, form_id));
    if (used) throw used;
    const now = nowIso(app);
    deleteFormRow(tx, groupId, form_id, now);
    audit(tx, call, now, 'form.delete', groupId, before, null);
  });
  return { body: undefined };
});

export const deleteAssignee = operation(deleteAssigneeEndpoint, async (app, call) => {
  const { id: groupId, assignee_type: type, assignee_id: id } = call.params;
  await transact(app.db, call.principal, async (tx) => {
    const before = await lockAssignee(tx, groupId, type, id);
    if (!before) throw new Problem('not_found');
    const used = inUse(`The assignee ${id}`, await findAssigneeUses(tx, groupId, type, id));
    if (used) throw used;
    const now = nowIso(app);
    deleteAssigneeRow(tx, groupId, type, id, now);
    audit(tx, call, now, 'assignee.delete', groupId, before, null);
  });
  return { body: undefined };
});

async function mustExist(tx: Transaction, groupId: string): Promise<void> {
  if (!(await findGroup(tx, groupId))) throw new Problem('not_found');
}

function audit(
  tx: Transaction,
  { principal, requestId }: Actor,
  at: string,
  action: `${'form' | 'assignee'}.${'put' | 'delete'}`,
  practiceGroupId: string,
  before: Form | Assignee | undefined,
  after: Form | Assignee | null,
): void {
  tx.audit({
    at,
    principal,
    action,
    subject: { type: action.split('.')[0] as string, id: (after ?? before)?.id ?? '' },
    practiceGroupId,
    requestId,
    before: before ?? null,
    after,
  });
}
