import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { type InputOf, type ItemOf, type ListOperation, pages } from '../api/client.ts';
import { Failure } from './failure.tsx';
import { Skeleton } from './loaded.tsx';
import { useMedia } from './media.ts';
import { Empty } from './page.tsx';
import { isTyping } from './typing.ts';

export interface Column<Item> {
  title: string;
  /** Null is a dash, and left out of the card that a row becomes on a phone: there is nothing to say. */
  cell: (item: Item) => React.ReactNode;
  /** A CSS track: `2fr`, `8rem`. */
  width?: string;
  /** Left out of that card. */
  wideOnly?: true;
  /** On that card there is no head: its title stands before it, as a number alone says nothing. */
  titled?: true;
  /** Sentences, which are to be read to their end: over some lines, and over the width of that card. */
  whole?: true;
  /** Over the width of that card, too: half of it breaks an address or an ID in the middle. */
  broad?: true;
}

interface ListProps<K extends ListOperation> {
  /** What the list is of, for whoever hears the page: `Webhooks`. */
  label: string;
  /** The operation that lists. */
  of: K;
  input: InputOf<K>;
  columns: readonly Column<ItemOf<K>>[];
  keyOf: (item: ItemOf<K>) => string;
  /** Where a row leads, below /console. */
  hrefOf?: (item: ItemOf<K>) => string;
  /** When nothing is there. */
  empty: React.ReactNode;
}

const ROW_PX = 36;
const CARD_PX = 84;
const PHONE = '(width < 48rem)';

/**
 * A list that pages by its cursor and feels like scrolling: only the rows in sight are in the document, and the next page is asked for
 * before its first row comes into sight. `j` and `k` go from row to row, `Enter` opens.
 */
export function List<K extends ListOperation>({
  label,
  of,
  input,
  columns,
  keyOf,
  hrefOf,
  empty,
}: ListProps<K>) {
  const query = useInfiniteQuery(pages(of, input));
  const navigate = useNavigate();
  const isPhone = useMedia(PHONE);
  const body = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(-1);
  const items = (query.data?.pages ?? []).flatMap(({ data }) => data);
  const virtual = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => (isPhone ? CARD_PX : ROW_PX),
    overscan: 20,
    scrollMargin: body.current?.offsetTop ?? 0,
  });
  const rows = virtual.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;

  useEffect(() => {
    if (query.hasNextPage && !query.isFetching && last >= items.length - 30) void query.fetchNextPage();
  }, [last, items.length, query]);
  useEffect(() => virtual.measure(), [isPhone]);

  useEffect(() => {
    const move = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key !== 'j' && event.key !== 'k') return;
      const next = Math.max(0, Math.min(items.length - 1, active + (event.key === 'j' ? 1 : -1)));
      setActive(next);
      virtual.scrollToIndex(next);
      requestAnimationFrame(() =>
        body.current?.querySelector<HTMLElement>(`[data-index="${next}"]`)?.focus({ preventScroll: true }),
      );
    };
    document.addEventListener('keydown', move);
    return () => document.removeEventListener('keydown', move);
  }, [active, items.length, virtual]);

  if (query.isPending) return <Skeleton rows={10} />;
  if (query.error && items.length === 0)
    return <Failure error={query.error} retry={() => void query.refetch()} />;
  if (items.length === 0) return <Empty>{empty}</Empty>;

  const shown = isPhone ? columns.filter(({ wideOnly }) => !wideOnly) : columns;
  const tracks = { gridTemplateColumns: columns.map(({ width = '1fr' }) => `minmax(0, ${width})`).join(' ') };
  return (
    // biome-ignore lint/a11y/useSemanticElements: rows are placed by the virtualiser, which a table does not allow
    <div
      role="table"
      className="list"
      aria-label={label}
      aria-rowcount={query.hasNextPage ? -1 : items.length + 1}
    >
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="row" className="list-head" style={isPhone ? undefined : tracks} tabIndex={-1}>
        {shown.map(({ title }) => (
          // biome-ignore lint/a11y/useSemanticElements: as above
          <span role="columnheader" key={title} tabIndex={-1}>
            {title}
          </span>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: as above */}
      <div role="rowgroup" ref={body} style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {rows.map((row) => {
          const item = items[row.index] as ItemOf<K>;
          const href = hrefOf?.(item);
          const open = href === undefined ? undefined : () => navigate({ to: href });
          return (
            // biome-ignore lint/a11y/useSemanticElements: as above
            <div
              role="row"
              key={keyOf(item)}
              data-index={row.index}
              ref={virtual.measureElement}
              aria-rowindex={row.index + 2}
              className={open ? 'list-row opens' : 'list-row'}
              tabIndex={open ? 0 : -1}
              style={{
                ...(isPhone ? {} : tracks),
                transform: `translateY(${row.start - virtual.options.scrollMargin}px)`,
              }}
              onFocus={() => setActive(row.index)}
              onClick={(event) => {
                if (!isTyping(event.target) && !(event.target as Element).closest('a, button')) void open?.();
              }}
              onKeyDown={(event) => {
                if (event.key === 'Enter' && event.target === event.currentTarget) void open?.();
              }}
            >
              {shown.map(({ title, cell, titled, whole, broad }) => {
                const content = cell(item);
                if (isPhone && content === null) return null;
                return (
                  // biome-ignore lint/a11y/useSemanticElements: as above
                  <span
                    role="cell"
                    key={title}
                    data-title={title}
                    data-titled={titled}
                    data-whole={whole}
                    data-broad={broad}
                  >
                    {content ?? '–'}
                  </span>
                );
              })}
            </div>
          );
        })}
      </div>
      {query.isFetchingNextPage && <p className="soft">More…</p>}
      {query.error && items.length > 0 && (
        <Failure error={query.error} retry={() => void query.fetchNextPage()} />
      )}
    </div>
  );
}
