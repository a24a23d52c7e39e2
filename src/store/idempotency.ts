import type { Sealed } from '../platform/sealing.ts';
import type { Transaction } from './database.ts';

/** What a call with an Idempotency-Key asked for. */
export interface Asked {
  callerId: string;
  key: string;
  bodyHash: Buffer;
  at: string;
}

/** And what it was or will be answered. */
export interface Keyed<Answer> extends Asked {
  answer: Answer;
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

/** The same for many keys of one caller, no two of them alike. Returns the earlier answers by key. */
export async function keepAnswers<Answer>(
  tx: Transaction,
  keyed: readonly Keyed<Answer>[],
): Promise<Map<string, Pick<Keyed<Answer>, 'bodyHash' | 'answer'>>> {
  const [first] = keyed;
  if (!first) return new Map();
  const [callers, keys] = keysOf(keyed);
  // In the order of their keys, so that two calls with the same keys wait for each other instead of deadlocking.
  const taken = await tx.query<{ key: string }>(
    `INSERT INTO idempotency_keys (caller_id, key, body_hash, answer, created_at)
     SELECT caller_id, key, body_hash, answer::jsonb, at
       FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::timestamptz[])
            AS new (caller_id, key, body_hash, answer, at)
      ORDER BY caller_id, key
     ON CONFLICT DO NOTHING RETURNING key`,
    [
      callers,
      keys,
      keyed.map(({ bodyHash }) => bodyHash),
      keyed.map(({ answer }) => JSON.stringify(answer)),
      keyed.map(({ at }) => at),
    ],
  );
  const isTaken = new Set(taken.map(({ key }) => key));
  const used = keyed.filter(({ key }) => !isTaken.has(key));
  if (used.length === 0) return new Map();
  const before = await tx.query<{ key: string; body_hash: Buffer; answer: Answer }>(
    'SELECT key, body_hash, answer FROM idempotency_keys WHERE caller_id = $1 AND key = ANY ($2::text[])',
    [first.callerId, used.map(({ key }) => key)],
  );
  const kept = new Map(
    before.map(({ key, body_hash: bodyHash, answer }) => [key, { bodyHash, answer }] as const),
  );
  // Without a row it was cleared away just now, so the key is free again.
  const free = used.filter(({ key }) => !kept.has(key));
  return new Map([...kept, ...(await keepAnswers(tx, free))]);
}

/** An answer as it is kept for any POST: its text is sealed, for it may show a secret. */
export interface KeptAnswer {
  bodyHash: Buffer;
  /** Null: the key was used for events, or is being used. */
  sealed: Sealed | null;
  etag: string | undefined;
  /** It holds on every node only a second after it was given. */
  settles: boolean;
}

interface KeptRow {
  body_hash: Buffer;
  sealed: Buffer | null;
  sealed_key_id: string | null;
  answer: { etag?: string; settles?: boolean };
}

/**
 * Takes the key for a call whose answer is kept before the transaction ends, or tells what it was used for. Whoever comes with
 * the same key meanwhile waits here for that.
 */
export async function takeKey(
  tx: Transaction,
  asked: Asked,
  expiresAt: string,
): Promise<KeptAnswer | undefined> {
  const { callerId, key, bodyHash, at } = asked;
  const taken = await tx.first(
    `INSERT INTO idempotency_keys AS k (caller_id, key, body_hash, answer, created_at, expires_at) VALUES ($1, $2, $3, '{}', $4, $5)
     ON CONFLICT (caller_id, key) DO UPDATE
       SET body_hash = excluded.body_hash, answer = '{}', sealed = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at
       WHERE k.expires_at <= excluded.created_at
     RETURNING key`,
    [callerId, key, bodyHash, at, expiresAt],
  );
  if (taken) return undefined;
  return (await findKeptAnswer(tx, asked)) ?? takeKey(tx, asked, expiresAt);
}

export async function findKeptAnswer(
  tx: Transaction,
  { callerId, key, at }: Asked,
): Promise<KeptAnswer | undefined> {
  const row = await tx.first<KeptRow>(
    `SELECT body_hash, sealed, sealed_key_id, answer FROM idempotency_keys
      WHERE caller_id = $1 AND key = $2 AND (expires_at IS NULL OR expires_at > $3)`,
    [callerId, key, at],
  );
  return row && keptAnswerOf(row);
}

function keptAnswerOf({ body_hash: bodyHash, sealed, sealed_key_id: keyId, answer }: KeptRow): KeptAnswer {
  return {
    bodyHash,
    sealed: sealed && keyId !== null ? { sealed, keyId } : null,
    etag: answer.etag,
    settles: answer.settles ?? false,
  };
}

export function putAnswer(
  tx: Transaction,
  { callerId, key }: Asked,
  { sealed, etag, settles }: Pick<KeptAnswer, 'etag' | 'settles'> & { sealed: Sealed },
): void {
  tx.defer(
    'UPDATE idempotency_keys SET sealed = $3, sealed_key_id = $4, answer = $5 WHERE caller_id = $1 AND key = $2',
    [callerId, key, sealed.sealed, sealed.keyId, JSON.stringify({ etag, settles })],
  );
}

// ---- The same for calls that share a transaction (runtime/gathering.ts) ----

export interface Wanted extends Asked {
  expiresAt: string;
}

/**
 * Takes keys, no two of them alike, or tells what they were used for; `gone`: that was cleared away just now. In their order, so that two
 * nodes that take the same ones wait for each other instead of deadlocking.
 */
export async function takeKeys(
  tx: Transaction,
  wanted: readonly Wanted[],
): Promise<('taken' | 'gone' | KeptAnswer)[]> {
  const [callers, keys] = keysOf(wanted);
  const times = wanted.map(({ at }) => at);
  const taken = await tx.query<{ caller_id: string; key: string }>(
    `INSERT INTO idempotency_keys AS k (caller_id, key, body_hash, answer, created_at, expires_at)
     SELECT caller_id, key, body_hash, '{}', at, expires_at
       FROM unnest($1::text[], $2::text[], $3::bytea[], $4::timestamptz[], $5::timestamptz[])
            AS wanted (caller_id, key, body_hash, at, expires_at)
      ORDER BY caller_id, key
     ON CONFLICT (caller_id, key) DO UPDATE
       SET body_hash = excluded.body_hash, answer = '{}', sealed = NULL, created_at = excluded.created_at, expires_at = excluded.expires_at
       WHERE k.expires_at <= excluded.created_at
     RETURNING caller_id, key`,
    [callers, keys, wanted.map(({ bodyHash }) => bodyHash), times, wanted.map(({ expiresAt }) => expiresAt)],
  );
  if (taken.length === wanted.length) return wanted.map(() => 'taken');
  const used = await tx.query<KeptRow & { caller_id: string; key: string }>(
    `SELECT k.caller_id, k.key, k.body_hash, k.sealed, k.sealed_key_id, k.answer
       FROM unnest($1::text[], $2::text[], $3::timestamptz[]) AS wanted (caller_id, key, at)
       JOIN idempotency_keys k ON k.caller_id = wanted.caller_id AND k.key = wanted.key
      WHERE k.expires_at IS NULL OR k.expires_at > wanted.at`,
    [callers, keys, times],
  );
  const isTaken = new Set(taken.map(nameOf));
  const kept = new Map(used.map((row) => [nameOf(row), keptAnswerOf(row)]));
  return wanted.map(({ callerId, key }) => {
    const name = nameOf({ caller_id: callerId, key });
    return isTaken.has(name) ? 'taken' : (kept.get(name) ?? 'gone');
  });
}

export function putAnswers(tx: Transaction, answers: readonly (Wanted & { sealed: Sealed })[]): void {
  tx.defer(
    `UPDATE idempotency_keys k SET sealed = put.sealed, sealed_key_id = put.key_id, answer = $5
       FROM unnest($1::text[], $2::text[], $3::bytea[], $4::text[]) AS put (caller_id, key, sealed, key_id)
      WHERE k.caller_id = put.caller_id AND k.key = put.key`,
    [
      ...keysOf(answers),
      answers.map(({ sealed }) => sealed.sealed),
      answers.map(({ sealed }) => sealed.keyId),
      JSON.stringify({ settles: false }),
    ],
  );
}

/** Of keys that were taken in this transaction, and not used. */
export function freeKeys(tx: Transaction, unused: readonly Wanted[]): void {
  tx.defer(
    `DELETE FROM idempotency_keys k USING unnest($1::text[], $2::text[]) AS unused (caller_id, key)
      WHERE k.caller_id = unused.caller_id AND k.key = unused.key`,
    [...keysOf(unused)],
  );
}

function keysOf(asked: readonly Asked[]): [string[], string[]] {
  return [asked.map(({ callerId }) => callerId), asked.map(({ key }) => key)];
}

const nameOf = ({ caller_id, key }: { caller_id: string; key: string }) => `${caller_id} ${key}`;
