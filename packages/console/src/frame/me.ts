import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { whoAmI } from '../api/client.ts';

/** Who is signed in, as the console's door says it: this decides which of the three applications somebody sees. */
export interface Me {
  kind: 'operator' | 'partner' | 'practice';
  name: string;
  /** Of a guest: where the invitation went. */
  email: string | null;
  partner: { id: string; name: string } | null;
  practice_group: { id: string; name: string } | null;
  session: { id: string; expires_at: string; idle_expires_at: string };
  environment: string;
}

export const me = queryOptions({
  queryKey: ['me'] as const,
  queryFn: ({ signal }) => whoAmI(signal) as Promise<Me>,
  staleTime: Infinity,
});

/** Of a guest. The frame asks before it shows anything, so every screen has it at once. */
export const useMe = () => useSuspenseQuery(me).data;

/** Where each of them begins, below /console. */
export const homes: Record<Me['kind'], string> = {
  operator: '/',
  partner: '/portal',
  practice: '/my-practice',
};
