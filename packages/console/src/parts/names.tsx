import { useQuery } from '@tanstack/react-query';
import { one } from '../api/client.ts';

const NAMES_STALE_MS = 5 * 60_000;

/** What people call a practice; its ID until that is known, or if it is gone. */
export function PracticeName({ id }: { id: string }) {
  const { data } = useQuery({ ...one('getPracticeGroup', { params: { id } }), staleTime: NAMES_STALE_MS });
  return data ? <bdi>{data.name}</bdi> : <code>{id}</code>;
}
