import type { Change } from '../../contract/operator/practices/changes.ts';

/** What the practice software says became of a change. */
export type ChangeEnd = { state: 'applied'; reason: null } | { state: 'rejected'; reason: string };

/** The change after that; the same one when it was said before; undefined when it has ended otherwise: a change keeps its end. */
export function endedChange(change: Change, end: ChangeEnd, now: string): Change | undefined {
  if (change.state === 'pending') return { ...change, ...end, ended_at: now };
  return change.state === end.state ? change : undefined;
}
