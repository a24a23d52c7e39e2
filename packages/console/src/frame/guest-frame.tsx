import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { isStatus, type NewsStream, type Operation, queryClient } from '../api/client.ts';
import { isAttended } from './attended.ts';
import { Frame } from './frame.tsx';
import { type Concerned, refresh, useLive } from './live.ts';
import { me, useMe } from './me.ts';
import { MeMenu } from './me-menu.tsx';
import type { Place } from './places.ts';

interface GuestFrameProps {
  places: readonly Place[];
  stream: NewsStream;
  concerned: Concerned;
  /** What no news speaks of. */
  untold: readonly Operation[];
}

/** Around the screens of people who were invited. Whom they are here for stands beside the environment. */
export function GuestFrame({ places, stream, concerned, untold }: GuestFrameProps) {
  const { name, environment, partner, practice_group } = useMe();
  const whose = (partner ?? practice_group)?.name ?? '';
  useLive(stream, concerned);
  useFresh(untold);
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

/** What no news speaks of is asked for again now and then, while somebody looks. */
function useFresh(untold: readonly Operation[]): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (isAttended()) refresh(untold);
    }, FRESH_MS);
    return () => clearInterval(timer);
  }, [untold]);
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
