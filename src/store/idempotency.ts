import type { Transaction } from './database.ts';

/** What a call with an Idempotency-Key asked for, and what it was or will be answered. */
export interface Keyed<Answer> {
  callerId: string;
  key: string;
  bodyHash: Buffer;
  answer: Answer;
  at: string;
}

/**
 * Keeps the answer for whoever sends the same key again, or tells what it was kept with before. Of several calls with one
 * key at once, the first does the work; the others wait here until it has committed (or try themselves if it failed).
 */
export async function keepAnswer<Answer>(
  tx: Transaction,
  keyed: Keyed<Answer>,
): Promise<Pick<Keyed<Answer>, 'bodyHash' | 'answer'> | undefined> {
  const { callerId, key, bodyHash, answer, at } = keyed;
  const kept = await tx.first(
    `INSERT INTO idempotency_keys (caller_id, key, body_hash, answer, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT DO NOTHING RETURNING key`,
    [callerId, key, bodyHash, JSON.stringify(answer), at],
  );
  if (kept) return undefined;
  const before = await tx.first<{ body_hash: Buffer; answer: Answer }>(
    'SELECT body_hash, answer FROM idempotency_keys WHERE caller_id = $1 AND key = $2',
    [callerId, key],
  );
  // Without a row it was cleared away just now, so the key is free again.
  return before ? { bodyHash: before.body_hash, answer: before.answer } : keepAnswer(tx, keyed);
}
