import { UsageError } from './exit.ts';

/** An ID as a part of a path. Some would mean another path. */
export function segment(id: string): string {
  if (['', '.', '..'].includes(id)) throw new UsageError(`"${id}" is not an ID.`);
  return encodeURIComponent(id);
}
