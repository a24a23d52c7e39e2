import { hash } from 'node:crypto';
import type { Endpoint } from '../contract/endpoint.ts';
import { Problem } from '../contract/problems.ts';
import type { Principal } from '../domain/access/principal.ts';
import type { Sealed } from '../platform/sealing.ts';
import { AnsweredBefore, type ToKeep } from '../runtime/gathering.ts';
import { transact, transactAsOne } from '../store/database.ts';
import {
  type Asked,
  findKeptAnswer,
  type KeptAnswer,
  type Keyed,
  putAnswer,
  takeKey,
} from '../store/idempotency.ts';
import { type App, nowIso } from './app.ts';

/** So long an answer is kept, for whoever did not hear it. */
const KEPT_MS = 24 * 3_600_000;

/** A call with an Idempotency-Key, and whoever made it. */
interface KeyedCall {
  idempotencyKey: string;
  principal: Principal;
  params?: unknown;
  query?: unknown;
  body?: unknown;
  keep?: ToKeep;
}

/** The answer as it goes out. */
interface Told {
  text: string | undefined;
  etag?: string | undefined;
  replayed?: true;
}

interface Operation {
  carryOut(app: App, call: KeyedCall): Promise<{ body: unknown; etag?: string | undefined }>;
  serialise(body: unknown): string | undefined;
}

/**
 * Carries out a POST with an Idempotency-Key, once: the same call made again is told the same answer, for a day. The key, the answer
 * and whatever the operation changes commit together: its transactions become parts of one (`transactAsOne`), so a crash leaves
 * all of it or nothing. What a call was refused for is not kept: nothing was done, and it may be made again. The answer is sealed, for it may
 * show a key or a secret, which is then shown again to whoever sends the same call with the same key.
 *
 * An operation of several transactions that does no harm when it is done again (`afterwards`) goes its own way, and its answer is kept once
 * it is there. Calls that are gathered (`gathered`) share their transaction with others: whoever gathers them keeps the answers.
 */
export async function answerOnce(
  app: App,
  endpoint: Endpoint,
  call: KeyedCall,
  { carryOut, serialise }: Operation,
): Promise<Told> {
  const asked = askedBy(app, endpoint, call);
  const expiresAt = new Date(app.clock.now() + KEPT_MS).toISOString();
  const operation = async (within: App, keyed: KeyedCall) => {
    const { body, etag } = await carryOut(within, keyed);
    return { text: serialise(body), etag };
  };
  if (endpoint.idempotency === 'gathered') {
    const seal = (body: unknown) => sealedAnswer(app, asked, serialise(body));
    try {
      return await operation(app, { ...call, keep: { ...asked, expiresAt, seal } });
    } catch (error) {
      if (error instanceof AnsweredBefore) return toldBefore(app, asked, error.kept);
      throw error;
    }
  }
  if (endpoint.idempotency === 'afterwards') {
    const earlier = await transact(app.db, call.principal, (tx) => findKeptAnswer(tx, asked));
    if (earlier) return toldBefore(app, asked, earlier);
    const told = await operation(app, call);
    await transact(app.db, call.principal, async (tx) => {
      if (await takeKey(tx, asked, expiresAt)) return;
      putAnswer(tx, asked, { sealed: sealedAnswer(app, asked, told.text), etag: told.etag, settles: false });
    });
    return told;
  }
  // An object of its own: what is done on its behalf joins the transaction, and nothing else.
  const principal = { ...call.principal };
  let settles = false;
  const done = transactAsOne(app.db, principal, async (tx) => {
    const earlier = await takeKey(tx, asked, expiresAt);
    if (earlier) return { earlier };
    // Nobody may wait for other nodes within a transaction: that comes when it is over.
    const settle = async () => {
      settles = true;
    };
    const told = await operation(
      { ...app, access: { ...app.access, settle, waitForNodes: settle } },
      { ...call, principal },
    );
    putAnswer(tx, asked, { sealed: sealedAnswer(app, asked, told.text), etag: told.etag, settles });
    return { told };
  });
  // A refusal waits as well, where it would without a key.
  const { earlier, told } = await done.finally(() => (settles ? app.access.settle() : undefined));
  return earlier ? toldBefore(app, asked, earlier) : told;
}

function askedBy(app: App, { operationId }: Endpoint, call: KeyedCall): Asked {
  const { idempotencyKey: key, principal, params, query, body } = call;
  const groupId = principal.kind === 'partner' ? principal.group.id : null;
  const asked = JSON.stringify([operationId, groupId, params, query, body]);
  return { callerId: callerOf(principal), key, bodyHash: hash('sha256', asked, 'buffer'), at: nowIso(app) };
}

function callerOf(principal: Principal): string {
  switch (principal.kind) {
    case 'partner':
      return principal.holder.partnerId;
    case 'operator':
      return principal.operatorId;
    case 'guest':
      return principal.partner?.id ?? principal.invitationId;
    case 'system':
      throw new Error('the service calls nobody');
  }
}

async function toldBefore(app: App, asked: Asked, kept: KeptAnswer): Promise<Told> {
  if (!asked.bodyHash.equals(kept.bodyHash)) throw usedForAnother();
  if (!kept.sealed)
    throw new Problem('conflict', { message: 'A call with this Idempotency-Key is under way.' });
  // The first call may still be waiting for the other nodes.
  if (kept.settles) await app.access.settle();
  if (!app.sealer.keyIds.includes(kept.sealed.keyId)) throw new Problem('conflict', { message: UNREADABLE });
  const text = app.sealer.open(kept.sealed, ownerOf(asked)).toString();
  return { text: text === '' ? undefined : text, etag: kept.etag, replayed: true };
}

const UNREADABLE =
  'This call was carried out before, and its answer cannot be shown again: the service has another master key since. Look up what it made, and replace a key or secret that you do not have. To do it once more, send a new Idempotency-Key.';

function sealedAnswer(app: App, asked: Asked, text = ''): Sealed {
  return app.sealer.seal(Buffer.from(text), ownerOf(asked));
}

const ownerOf = ({ callerId, key }: Asked) => `idempotency_keys ${callerId} ${key}`;

export function usedForAnother(): Problem {
  return new Problem('conflict', {
    message:
      'This Idempotency-Key was sent before, with another body or for another practice group. Send a new one.',
  });
}

// ---- Events, which keep their own: their IDs are ours to choose, so the answer is kept before the work is done ----

/** The answer to a call with an Idempotency-Key; undefined for a call without one. `asked`: what must be the same the next time. */
export function keyedAnswer<Answer>(
  app: App,
  { idempotencyKey: key }: { idempotencyKey?: string | undefined },
  callerId: string,
  asked: unknown,
  answer: Answer,
): Keyed<Answer> | undefined {
  if (key === undefined) return undefined;
  // Of the value, not of the bytes: validation has put the fields into the contract's order, and blanks are gone.
  const bodyHash = hash('sha256', JSON.stringify(asked), 'buffer');
  return { callerId, key, bodyHash, answer, at: nowIso(app) };
}

/** What the same call was answered before. */
export function answerAgain<Answer>(
  { bodyHash }: Keyed<Answer>,
  earlier: Pick<Keyed<Answer>, 'bodyHash' | 'answer'>,
): { body: Answer; replayed: true } {
  if (bodyHash.equals(earlier.bodyHash)) return { body: earlier.answer, replayed: true };
  throw usedForAnother();
}
