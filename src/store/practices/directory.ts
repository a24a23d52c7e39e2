import type { Assignee, Form } from '../../contract/operator/practices/directory.ts';
import type { PageQuery } from '../../contract/page.ts';
import { USES_TOLD_MAX, type Use } from '../../domain/practices/in-use.ts';
import type { Transaction } from '../database.ts';
import { byId, type Keyset, readPage } from '../page.ts';
import { removeWithTombstone } from './removed-items.ts';

export async function findForm(tx: Transaction, groupId: string, id: string): Promise<Form | undefined> {
  return tx.first<Form>(
    'SELECT id, title, created_at, updated_at FROM forms WHERE practice_group_id = $1 AND id = $2',
    [groupId, id],
  );
}

export function listFormPage(tx: Transaction, groupId: string, query: PageQuery) {
  return readPage(query, byId, ([after], limit) => {
    return tx.query<Form>(
      `SELECT id, title, created_at, updated_at FROM forms
        WHERE practice_group_id = $1 AND ($2::text IS NULL OR id > $2) ORDER BY id LIMIT $3`,
      [groupId, after, limit],
    );
  });
}

export function upsertForm(tx: Transaction, groupId: string, form: Form): void {
  tx.defer(
    `INSERT INTO forms (practice_group_id, id, title, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (practice_group_id, id) DO UPDATE SET title = excluded.title, updated_at = excluded.updated_at`,
    [groupId, form.id, form.title, form.created_at, form.updated_at],
  );
}

export async function findAssignee(
  tx: Transaction,
  groupId: string,
  type: string,
  id: string,
): Promise<Assignee | undefined> {
  return tx.first<Assignee>(
    `SELECT id, type, name, created_at, updated_at FROM assignees
      WHERE practice_group_id = $1 AND type = $2 AND id = $3`,
    [groupId, type, id],
  );
}

const byTypeAndId: Keyset<Assignee> = {
  types: ['string', 'string'],
  keyOf: (assignee) => [assignee.type, assignee.id],
};

export function listAssigneePage(tx: Transaction, groupId: string, query: PageQuery) {
  return readPage(query, byTypeAndId, ([type, id], limit) => {
    return tx.query<Assignee>(
      `SELECT id, type, name, created_at, updated_at FROM assignees
        WHERE practice_group_id = $1 AND ($2::text IS NULL OR (type, id) > ($2, $3::text))
        ORDER BY type, id LIMIT $4`,
      [groupId, type, id, limit],
    );
  });
}

export function upsertAssignee(tx: Transaction, groupId: string, assignee: Assignee): void {
  tx.defer(
    `INSERT INTO assignees (practice_group_id, type, id, name, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (practice_group_id, type, id)
     DO UPDATE SET name = excluded.name, updated_at = excluded.updated_at`,
    [groupId, assignee.type, assignee.id, assignee.name, assignee.created_at, assignee.updated_at],
  );
}

/** Locks first and reads then: whoever is about to point to it is waited for, and found by `findFormUses`. */
export function lockForm(tx: Transaction, groupId: string, id: string): Promise<Form | undefined> {
  tx.defer('SELECT FROM forms WHERE practice_group_id = $1 AND id = $2 FOR UPDATE', [groupId, id]);
  return findForm(tx, groupId, id);
}

export function lockAssignee(
  tx: Transaction,
  groupId: string,
  type: string,
  id: string,
): Promise<Assignee | undefined> {
  tx.defer('SELECT FROM assignees WHERE practice_group_id = $1 AND type = $2 AND id = $3 FOR UPDATE', [
    groupId,
    type,
    id,
  ]);
  return findAssignee(tx, groupId, type, id);
}

/** Which of the two exist. They stay until the transaction ends, so that it may point to them. */
export async function holdDirectory(
  tx: Transaction,
  groupId: string,
  { form_id, assignee_id, assignee_type }: Pointers,
): Promise<{ hasForm: boolean; hasAssignee: boolean }> {
  const [form, assignee] = await Promise.all([
    tx.first('SELECT id FROM forms WHERE practice_group_id = $1 AND id = $2 FOR KEY SHARE', [
      groupId,
      form_id,
    ]),
    tx.first(
      'SELECT id FROM assignees WHERE practice_group_id = $1 AND type = $2 AND id = $3 FOR KEY SHARE',
      [groupId, assignee_type, assignee_id],
    ),
  ]);
  return { hasForm: form !== undefined, hasAssignee: assignee !== undefined };
}

interface Pointers {
  form_id: string | null;
  assignee_id: string | null;
  assignee_type: string | null;
}

const USES = (condition: string) => `
  SELECT 'submission_type' AS type, count(*)::int AS count,
         coalesce((array_agg(id ORDER BY id))[1:${USES_TOLD_MAX}], '{}') AS ids
    FROM submission_types WHERE practice_group_id = $1 AND ${condition}`;

export function findFormUses(tx: Transaction, groupId: string, id: string): Promise<Use[]> {
  return tx.query<Use>(USES('form_id = $2'), [groupId, id]);
}

export function findAssigneeUses(tx: Transaction, groupId: string, type: string, id: string): Promise<Use[]> {
  return tx.query<Use>(USES('assignee_type = $2::assignee_type AND assignee_id = $3'), [groupId, type, id]);
}

export function deleteFormRow(tx: Transaction, groupId: string, id: string, now: string): void {
  removeWithTombstone(tx, 'form', [{ groupId, id }], now);
}

export function deleteAssigneeRow(
  tx: Transaction,
  groupId: string,
  assigneeType: string,
  id: string,
  now: string,
): void {
  removeWithTombstone(tx, 'assignee', [{ groupId, assigneeType, id }], now);
}
