import {
  decodeCursor,
  encodeCursor,
  type Key,
  PAGE_SIZE_DEFAULT,
  type Page,
  type PageQuery,
} from '../contract/page.ts';

/**
 * Keyset pagination: a cursor holds the sort key of the last entry seen, so that a page stays right while rows come and go
 * before it, and the thousandth page costs what the first does.
 */
export interface Keyset<T> {
  types: readonly ('string' | 'number' | 'decimal')[];
  keyOf(item: T): readonly (string | number)[];
}

export const byId: Keyset<{ id: string }> = { types: ['string'], keyOf: (item) => [item.id] };

/** `read` gets the key to go on after (nulls on the first page) and how many rows to fetch. */
export async function readPage<T>(
  query: PageQuery,
  keyset: Keyset<NoInfer<T>>,
  read: (after: Key, limit: number) => Promise<T[]>,
): Promise<Page<T>> {
  const size = query.page_size ?? PAGE_SIZE_DEFAULT;
  // One more than asked for tells whether there is a next page.
  const rows = await read(decodeCursor(query.cursor, keyset.types), size + 1);
  const data = rows.slice(0, size);
  const last = data.at(-1);
  return {
    data,
    count: data.length,
    next_cursor: rows.length > size && last !== undefined ? encodeCursor(keyset.keyOf(last)) : null,
  };
}

/**
 * For filters that no index serves: each page looks through a stretch of bounded length and no further, so that it is
 * quick however rare the matches are. It may hold fewer entries than asked for, and still lead on.
 * `endOf` finds the key at which the stretch after a key ends, undefined when nothing lies beyond.
 */
export async function readStretch<T>(
  query: PageQuery,
  keyset: Keyset<NoInfer<T>>,
  endOf: (after: Key) => Promise<readonly (string | number)[] | undefined>,
  read: (after: Key, end: readonly (string | number)[] | undefined, limit: number) => Promise<T[]>,
): Promise<Page<T>> {
  const after = decodeCursor(query.cursor, keyset.types);
  const end = await endOf(after);
  const page = await readPage(query, keyset, (_after, limit) => read(after, end, limit));
  return { ...page, next_cursor: page.next_cursor ?? (end ? encodeCursor(end) : null) };
}
