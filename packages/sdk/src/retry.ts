import { PorterApiError, PorterConnectionError } from './errors.ts';
import type { Idempotency, IfMatch, Runtime } from './options.ts';

const BACKOFF_MIN_MS = 500;
export const BACKOFF_MAX_MS = 30_000;
/** A service that asks for more is asked again after this. */
const RETRY_AFTER_MAX_MS = 3_600_000;

/**
 * Whether a second attempt leaves the service in the same state as one attempt. A POST needs an idempotency key for that. A PATCH with
 * `ifMatch` would get a 412 for the version that its first attempt made, which looks like another caller's change.
 */
export function isRepeatable(method: string, { ifMatch, idempotencyKey }: IfMatch & Idempotency): boolean {
  if (method === 'POST') return idempotencyKey !== undefined;
  return method !== 'PATCH' || ifMatch === undefined;
}

/** The service rejects a 429 before it does anything. After a 5xx or a lost connection, the change may be done. */
export const wasNotDone = (error: unknown): boolean =>
  error instanceof PorterApiError && error.status === 429;

/** True if a repetition may succeed, and does no harm if the first attempt succeeded. */
export function mayPass(error: unknown, repeatable: boolean): boolean {
  if (wasNotDone(error)) return true;
  const isOutage = error instanceof PorterApiError && error.status >= 500;
  return repeatable && (isOutage || error instanceof PorterConnectionError);
}

/** What the service asked for, and on top a random share of a time that doubles, so that not everybody comes at once. */
export function waitBefore(retries: number, error: unknown, { now, random }: Runtime): number {
  const asked = error instanceof PorterApiError ? retryAfter(error.headers, now()) : 0;
  return asked + backoff(retries, random, BACKOFF_MIN_MS);
}

export function backoff(retries: number, random: () => number, firstMs: number): number {
  return random() * Math.min(BACKOFF_MAX_MS, firstMs * 2 ** retries);
}

/** Milliseconds: the header holds seconds, or a date. */
export function retryAfter(headers: Headers, now: number): number {
  const value = headers.get('retry-after') ?? '';
  const wait = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Math.min(RETRY_AFTER_MAX_MS, Math.max(0, wait || 0));
}
