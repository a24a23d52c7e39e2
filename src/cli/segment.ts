import { segment as segmentOf } from '../../packages/sdk/src/segment.ts';
import { UsageError } from './exit.ts';

/** An ID as a part of a path. One that would mean another path is a slip of whoever typed it. */
export function segment(id: string): string {
  try {
    return segmentOf(id);
  } catch {
    throw new UsageError(`"${id}" is not an ID.`, 'Copy it from a list, such as that of `porter keys list`.');
  }
}
