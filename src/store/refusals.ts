import type { Transaction } from './database.ts';

/** A refused call of a partner, as it is kept. */
export interface Refusal {
  partnerId: string;
  requestId: string;
  at: string;
  keyId: string;
  practiceGroupId: string | undefined;
  method: string;
  path: string;
  operation: string;
  status: number;
  /** The body that was answered. */
  body: string;
}

export async function insertRefusals(tx: Transaction, refusals: readonly Refusal[]): Promise<void> {
  await tx.query(
    `INSERT INTO refused_requests (partner_id, request_id, at, key_id, practice_group_id, method, path, operation,
                                   status, body)
     SELECT * FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::text[], $5::text[], $6::text[], $7::text[],
                          $8::text[], $9::smallint[], $10::text[])`,
    [
      refusals.map((one) => one.partnerId),
      refusals.map((one) => one.requestId),
      refusals.map((one) => one.at),
      refusals.map((one) => one.keyId),
      refusals.map((one) => one.practiceGroupId ?? null),
      refusals.map((one) => one.method),
      refusals.map((one) => one.path),
      refusals.map((one) => one.operation),
      refusals.map((one) => one.status),
      refusals.map((one) => one.body),
    ],
  );
}

export type KeptRefusal = Pick<
  Refusal,
  'requestId' | 'at' | 'method' | 'path' | 'operation' | 'status' | 'body'
>;

/** The partner's own, and the newest if the ID was used more than once. */
export async function findRefusal(
  tx: Transaction,
  partnerId: string,
  requestId: string,
): Promise<KeptRefusal | undefined> {
  return tx.first<KeptRefusal>(
    `SELECT request_id AS "requestId", at, method, path, operation, status, body FROM refused_requests
      WHERE partner_id = $1 AND request_id = $2 ORDER BY at DESC LIMIT 1`,
    [partnerId, requestId],
  );
}
