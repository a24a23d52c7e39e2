import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type InputOf, type ItemOf, type ListOperation, one, pages } from '../api/client.ts';

/** A whole list, page after page, up to so many pages: for what must be seen together. */
export function useEvery<K extends ListOperation>(name: K, input: InputOf<K>, pagesMax: number) {
  const query = useInfiniteQuery(pages(name, input));
  const loaded = query.data?.pages ?? [];
  const isCut = query.hasNextPage && loaded.length >= pagesMax;
  useEffect(() => {
    if (query.hasNextPage && !query.isFetching && !query.error && loaded.length < pagesMax)
      void query.fetchNextPage();
  }, [query, loaded.length, pagesMax]);
  return {
    items: loaded.flatMap(({ data }) => data) as ItemOf<K>[],
    isLoading: query.isPending || (query.hasNextPage && !isCut && !query.error),
    isCut,
    error: query.error,
    retry: () => void query.refetch(),
  };
}

const NAMES_PAGES_MAX = 2;

/** What practices are called: most by a page or two of the list, the others one by one. */
export function usePracticeNames(ids: readonly string[]): (id: string) => string {
  const { items, isLoading } = useEvery('listAllPracticeGroups', {}, NAMES_PAGES_MAX);
  const known = new Map(items.map(({ id, name }) => [id, name]));
  const missing = isLoading ? [] : ids.filter((id) => !known.has(id));
  const asked = useQueries({ queries: missing.map((id) => one('getPracticeGroup', { params: { id } })) });
  for (const { data } of asked) if (data) known.set(data.id, data.name);
  return (id) => known.get(id) ?? id;
}
