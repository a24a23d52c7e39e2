import type { Assignee, Form } from '../contract/operator/directory.ts';
import type { PageQuery } from '../contract/page.ts';
import type { Transaction } from './database.ts';
import { byId, type Keyset, readPage } from './page.ts';

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
