import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { queryClient, whoAmI } from '../api/client.ts';
import type { OperatorMe } from '../api/generated.ts';
import { session } from './session.ts';

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
  /** Of an operator: what `session` would answer. */
  as_operator: OperatorMe | null;
}

export const me = queryOptions({
  queryKey: ['me'] as const,
  queryFn: async ({ signal }) => {
    const found = (await whoAmI(signal)) as Me;
    if (found.as_operator) queryClient.setQueryData(session.queryKey, found.as_operator);
    return found;
  },
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
