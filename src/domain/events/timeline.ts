/**
 * One list out of several that are each read newest first, page by page: what a partner read, changed and received. Each has places of its own,
 * and a page of the whole takes from whichever has the newest.
 */

export interface Placed<T> {
  at: string;
  place: readonly number[];
  item: T;
}

/** Some of one list, after a place in it. `end`: it was looked through up to there, and there may be more behind; undefined: there is not. */
export interface Strand<T> {
  from: readonly number[];
  found: readonly Placed<T>[];
  end: Omit<Placed<T>, 'item'> | undefined;
}

export interface TimelinePage<T> {
  items: T[];
  /** Where each list goes on; undefined: it is over. */
  places: (readonly number[] | undefined)[];
}

export function mergeStrands<T>(strands: readonly Strand<T>[], size: number): TimelinePage<T> {
  const taken = strands.map(() => 0);
  const items: T[] = [];
  /** What comes next of a strand; where it was not looked further, that: what is behind it may come before what others have. */
  const headOf = ({ found, end }: Strand<T>, n: number) => found[taken[n] ?? 0] ?? end;
  while (items.length < size) {
    const heads = strands.map(headOf);
    const next = heads.reduce(
      (best, head, n) => (head && (best < 0 || head.at > (heads[best]?.at ?? '')) ? n : best),
      -1,
    );
    const placed = strands[next]?.found[taken[next] ?? 0];
    if (!placed) break;
    items.push(placed.item);
    taken[next] = (taken[next] ?? 0) + 1;
  }
  const places = strands.map(({ from, found, end }, n) => {
    const count = taken[n] ?? 0;
    if (count === found.length) return end?.place;
    return found[count - 1]?.place ?? from;
  });
  return { items, places };
}
