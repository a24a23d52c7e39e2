import { Problem } from '../../contract/problems.ts';

/** What keeps something from being removed: how many of a kind there are, and the first few of them. */
export interface Use {
  type: string;
  count: number;
  ids: string[];
}

/** The first few of many are told. */
export const USES_TOLD_MAX = 10;

/** Refuses to remove what is in use, and says by what; undefined when nothing uses it. */
export function inUse(what: string, uses: readonly Use[]): Problem | undefined {
  const found = uses.filter(({ count }) => count > 0);
  if (found.length === 0) return undefined;
  const told = found.map(({ type, count, ids }) => {
    const more = count > ids.length ? ` and ${count - ids.length} more` : '';
    return `${count} ${type.replaceAll('_', ' ')}${count === 1 ? '' : 's'} (${ids.join(', ')}${more})`;
  });
  return new Problem('conflict', {
    message: `${what} is in use by ${told.join(', ')}. Remove or change what uses it first.`,
    used_by: found,
  });
}
