import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type InputOf, type ItemOf, type ListOperation, pages } from '../api/client.ts';
import { Failure } from './failure.tsx';
import { Skeleton } from './loaded.tsx';

/** A list within a page, by its cursor: the next of it is asked for before its end comes into sight. */
export function Paged<K extends ListOperation>({
  of,
  input,
  rows = 6,
  children,
}: {
  /** The operation that lists. */
  of: K;
  input: InputOf<K>;
  rows?: number;
  children: (items: ItemOf<K>[]) => React.ReactNode;
}) {
  const query = useInfiniteQuery(pages(of, input));
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!end.current || !query.hasNextPage || query.isFetching || query.error) return;
    const watcher = new IntersectionObserver(
      ([entry]) => {
        if (entry?.isIntersecting) void query.fetchNextPage();
      },
      { rootMargin: '800px' },
    );
    watcher.observe(end.current);
    return () => watcher.disconnect();
  }, [query]);

  if (query.isPending) return <Skeleton rows={rows} />;
  if (!query.data) return <Failure error={query.error} retry={() => void query.refetch()} />;
  return (
    <>
      {children(query.data.pages.flatMap(({ data }) => data))}
      <div ref={end}>{query.isFetchingNextPage && <p className="soft">More…</p>}</div>
      {query.error && <Failure error={query.error} retry={() => void query.fetchNextPage()} />}
    </>
  );
}
