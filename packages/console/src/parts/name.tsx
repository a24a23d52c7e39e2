import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { one } from '../api/client.ts';
import type { ApiKey } from '../api/generated.ts';

/** Things by their names, which lead to them. While a name is asked for, or when it is gone, its ID stands there. */

export function PartnerName({ id }: { id: string }) {
  const { data } = useQuery(one('getPartner', { params: { id } }));
  return (
    <Link to={`/partners/${id}`}>
      <bdi>{data?.name ?? id}</bdi>
    </Link>
  );
}

export function PracticeName({ id }: { id: string }) {
  const { data } = useQuery(one('getPracticeGroup', { params: { id } }));
  return (
    <Link to={`/practices/${id}`}>
      <bdi>{data?.name ?? id}</bdi>
    </Link>
  );
}

export function KeyName({ id }: { id: string }) {
  const { data } = useQuery(one('getKey', { params: { id } }));
  return (
    <Link to={`/keys/${id}`}>
      <bdi>{data ? nameOfKey(data) : id}</bdi>
    </Link>
  );
}

/** What people call a key: its label, and how it ends. */
export const nameOfKey = ({ label, last_four }: Pick<ApiKey, 'label' | 'last_four'>): string =>
  label ? `${label} (…${last_four})` : `Key …${last_four}`;
