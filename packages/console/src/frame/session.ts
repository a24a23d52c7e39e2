import { useSuspenseQuery } from '@tanstack/react-query';
import { one } from '../api/client.ts';

/** Who is signed in. The frame asks before it shows anything, so every screen has it at once. */
export const session = one('getOperatorMe', {});

export const useSession = () => useSuspenseQuery(session).data;

/** Whether a role lets somebody change things; the API refuses the same. */
export function useMay(...roles: readonly string[]): boolean {
  return roles.includes(useSession().operator.role);
}
