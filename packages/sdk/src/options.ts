import { startTimer } from './timer.ts';

/** How the client is made, and what a single call may add. */
export interface PorterOptions {
  /** `ptr_test_…` on staging, `ptr_live_…` in production. */
  apiKey: string;
  /** The practice group that calls act for. `actingFor` makes a client for another one. */
  practiceGroupId: string;
  /** Where the service is, such as `https://api.porter.example`; http only on this machine. */
  baseUrl: string;
  /** Instead of the global one. */
  fetch?: typeof fetch | undefined;
  /** For each attempt, from its start to the last byte of the answer; 30,000 unless given, Infinity for no limit. */
  timeoutMs?: number | undefined;
  /** How often a call is repeated at most; 3 unless given, 0 for never. */
  maxRetries?: number | undefined;
  /** No retry begins later than this after the start of the call; 90,000 unless given. */
  maxRetryMs?: number | undefined;
  /** Time and chance, for tests. */
  runtime?: Partial<Runtime> | undefined;
}

export interface Runtime {
  /** Milliseconds since 1970. */
  now(): number;
  /** From 0 to just below 1. */
  random(): number;
  /** Rejects with the signal's reason as soon as it is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

export interface CallOptions {
  /** Ends the call at once, also while it waits to be repeated. */
  signal?: AbortSignal | undefined;
  /** An ID of your own, sent as `x-request-id`. */
  requestId?: string | undefined;
  /** Instead of the client's own. */
  timeoutMs?: number | undefined;
  /** Instead of the client's own. */
  maxRetries?: number | undefined;
}

export interface IfMatch {
  /** The `etag` that you last saw: if the record has changed since, the call fails with `precondition_failed`. */
  ifMatch?: string | undefined;
}

export interface Idempotency {
  /** A name of your own for this change: sent twice, it happens once. Unless given, each call has one that nobody else has. */
  idempotencyKey?: string | undefined;
}

export const defaultRuntime: Runtime = {
  now: () => Date.now(),
  random: () => Math.random(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const stop = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = startTimer(() => {
        signal?.removeEventListener('abort', stop);
        resolve();
      }, milliseconds);
      signal?.addEventListener('abort', stop, { once: true });
    }),
};
