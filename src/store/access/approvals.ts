import type { Approval } from '../../contract/approval.ts';
import type { PageQuery } from '../../contract/page.ts';
import type { StoredApproval } from '../../domain/access/approval.ts';
import type { Sealed } from '../../platform/sealing.ts';
import type { Transaction } from '../database.ts';
import { byId, readPage } from '../page.ts';

const APPROVAL = `id, kind, operation, params, body, requested_by, requested_name, requested_at, expires_at, decision, decided_by, decided_name,
  decided_at, reason, answer IS NOT NULL AS has_answer, basis`;

/** Newest first. */
export function listApprovalPage(
  tx: Transaction,
  { status = null, ...query }: PageQuery & { status?: Approval['status'] | null | undefined },
  now: string,
) {
  return readPage(query, byId, ([before], limit) =>
    tx.query<StoredApproval>(
      `SELECT ${APPROVAL} FROM approvals
        WHERE ($1::text IS NULL OR $1 = coalesce(decision, CASE WHEN expires_at <= $2 THEN 'expired' ELSE 'pending' END))
          AND ($3::text IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
      [status, now, before, limit],
    ),
  );
}

export function findApproval(tx: Transaction, id: string): Promise<StoredApproval | undefined> {
  return tx.first<StoredApproval>(`SELECT ${APPROVAL} FROM approvals WHERE id = $1`, [id]);
}

/** The same, and nobody else decides it until the transaction ends. */
export function lockApproval(tx: Transaction, id: string): Promise<StoredApproval | undefined> {
  return tx.first<StoredApproval>(`SELECT ${APPROVAL} FROM approvals WHERE id = $1 FOR NO KEY UPDATE`, [id]);
}

export function insertApproval(tx: Transaction, approval: StoredApproval): void {
  tx.defer(
    `INSERT INTO approvals (id, kind, operation, params, body, requested_by, requested_name, requested_at, expires_at, basis)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      approval.id,
      approval.kind,
      approval.operation,
      JSON.stringify(approval.params),
      JSON.stringify(approval.body),
      approval.requested_by,
      approval.requested_name,
      approval.requested_at,
      approval.expires_at,
      approval.basis,
    ],
  );
}

export function decideApproval(
  tx: Transaction,
  approval: Pick<StoredApproval, 'id' | 'decision' | 'decided_by' | 'decided_name' | 'decided_at' | 'reason'>,
  answer: Sealed | undefined,
): void {
  tx.defer(
    `UPDATE approvals SET decision = $2, decided_by = $3, decided_name = $4, decided_at = $5, reason = $6, answer = $7, answer_key_id = $8
      WHERE id = $1`,
    [
      approval.id,
      approval.decision,
      approval.decided_by,
      approval.decided_name,
      approval.decided_at,
      approval.reason,
      answer?.sealed ?? null,
      answer?.keyId ?? null,
    ],
  );
}

/** It is there no more. */
export function takeAnswer(tx: Transaction, id: string): Promise<Sealed | undefined> {
  return tx.first<Sealed>(
    `UPDATE approvals a SET answer = NULL, answer_key_id = NULL FROM approvals old
      WHERE a.id = $1 AND old.id = a.id AND old.answer IS NOT NULL RETURNING old.answer AS sealed, old.answer_key_id AS "keyId"`,
    [id],
  );
}
