import type { CallOutcome } from '../../contract/partner/usage.ts';

export function callOutcome(status: number): CallOutcome {
  if (status < 400) return 'ok';
  if (status >= 500) return 'failed';
  return status === 429 ? 'rate_limited' : 'refused';
}

/** Which bound a time falls below: the first that it does not exceed; as many as there are bounds if it is longer than all. */
export function bucketOf(bounds: readonly number[], value: number): number {
  let at = 0;
  while (at < bounds.length && value > (bounds[at] as number)) at++;
  return at;
}
