import { hash } from 'node:crypto';
import { Problem } from '../contract/problems.ts';
import type { Keyed } from '../store/idempotency.ts';
import { type App, nowIso } from './app.ts';

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
  throw new Problem('conflict', {
    message:
      'This Idempotency-Key was sent before, with another body or for another practice group. Send a new one.',
  });
}
