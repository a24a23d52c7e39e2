import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isStatus, queryClient } from '../api/client.ts';
import { isAttended } from './attended.ts';
import { Frame } from './frame.tsx';
import { me, useMe } from './me.ts';
import { MeMenu } from './me-menu.tsx';
import type { Place } from './places.ts';

/** Around the screens of people who were invited. Whom they are here for stands beside the environment. */
export function GuestFrame({ places }: { places: readonly Place[] }) {
  const { name, environment, partner, practice_group } = useMe();
  const whose = (partner ?? practice_group)?.name ?? '';
  useFresh();
  useEndOfSession();
  return (
    <Frame
      environment={environment}
      whose={whose}
      places={places}
      me={<MeMenu name={name} what={`for ${whose}`} />}
    />
  );
}

const FRESH_MS = 15_000;
/** Of a list that was scrolled far, every page would be asked for again. */
const PAGES_MAX = 3;

/** What is looked at is asked for again now and then; the stream of news is the operator's. */
function useFresh(): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!isAttended()) return;
      void queryClient.invalidateQueries({
        predicate: ({ queryKey, state }) => {
          const { pages } = (state.data ?? {}) as { pages?: unknown[] };
          return queryKey[0] !== me.queryKey[0] && (pages?.length ?? 0) <= PAGES_MAX;
        },
      });
    }, FRESH_MS);
    return () => clearInterval(timer);
  }, []);
}

/** Whoever is signed in no more is asked who it is, whatever call has said so. */
function useEndOfSession(): void {
  const router = useRouter();
  useEffect(() => {
    const end = (error: unknown) => {
      if (!isStatus(error, 401)) return;
      queryClient.removeQueries({ queryKey: me.queryKey });
      void router.invalidate();
    };
    const stops = [
      queryClient.getQueryCache().subscribe((event) => {
        if (event.type === 'updated' && event.action.type === 'error') end(event.action.error);
      }),
      queryClient.getMutationCache().subscribe((event) => {
        if (event.type === 'updated' && event.action.type === 'error') end(event.action.error);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [router]);
}
