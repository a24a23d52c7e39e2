import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isStatus, type NewsStream, news, type Operation, queryClient } from '../api/client.ts';
import { isAttended } from './attended.ts';
import { me } from './me.ts';

/** What has changed is told by the service, over one stream for each tab, and asked for again. */

/** By the kind of news, the operations whose answers may differ. */
export type Concerned = Readonly<Record<string, readonly Operation[]>>;

/** Of a list that was scrolled far, every page would be asked for again: it waits until somebody looks at it anew. */
const PAGES_MAX = 3;
const AGAIN_MS = 15_000;

export function refresh(named: readonly Operation[]): void {
  const operations = new Set<unknown>(named);
  void queryClient.invalidateQueries({
    predicate: ({ queryKey, state }) => {
      if (!operations.has(queryKey[0])) return false;
      const { pages } = (state.data ?? {}) as { pages?: unknown[] };
      return (pages?.length ?? 0) <= PAGES_MAX;
    },
    refetchType: isAttended() ? 'active' : 'none',
  });
}

/** `concerned` is the same object each time. */
export function useLive(stream: NewsStream, concerned: Concerned): void {
  const router = useRouter();
  useEffect(() => {
    const leave = new AbortController();
    let again: ReturnType<typeof setTimeout> | undefined;
    const listen = async () => {
      try {
        for await (const { kinds } of news(stream, leave.signal))
          refresh(kinds.flatMap((kind) => concerned[kind] ?? []));
      } catch (error) {
        if (leave.signal.aborted) return;
        if (isStatus(error, 401)) {
          // The session is over: the router asks who it is.
          queryClient.removeQueries({ queryKey: me.queryKey });
          return void router.invalidate();
        }
        again = setTimeout(listen, AGAIN_MS);
      }
    };
    void listen();
    return () => {
      leave.abort();
      clearTimeout(again);
    };
  }, [router, stream, concerned]);
}
