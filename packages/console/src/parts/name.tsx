import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { one } from '../api/client.ts';
import type { ApiKey } from '../api/generated.ts';
import { pageOf } from '../frame/addresses.ts';

/** Things by their names, which lead to them. While a name is asked for, or when it is gone, its ID stands there. */

const STALE_MS = 5 * 60_000;

interface NameProps {
  id: string;
  /** In a row that leads elsewhere, a name is only a name. */
  isPlain?: boolean;
}

export function PartnerName({ id, isPlain = false }: NameProps) {
  const { data } = useQuery({ ...one('getPartner', { params: { id } }), staleTime: STALE_MS });
  return <Named to={isPlain ? undefined : pageOf('partner', id)} name={data?.name} id={id} />;
}

export function PracticeName({ id, isPlain = false }: NameProps) {
  const { data } = useQuery({ ...one('getPracticeGroup', { params: { id } }), staleTime: STALE_MS });
  return <Named to={isPlain ? undefined : pageOf('practice_group', id)} name={data?.name} id={id} />;
}

export function KeyName({ id }: { id: string }) {
  const { data } = useQuery({ ...one('getKey', { params: { id } }), staleTime: STALE_MS });
  return <Named to={pageOf('key', id)} name={data && nameOfKey(data)} id={id} />;
}

/** The same of a key that is there already. */
export function KnownKey({ of: key }: { of: Pick<ApiKey, 'id' | 'label' | 'last_four'> }) {
  return <Named to={pageOf('key', key.id)} name={nameOfKey(key)} id={key.id} />;
}

export function OperatorName({ id }: { id: string }) {
  const { data } = useQuery({ ...one('getOperator', { params: { id } }), staleTime: STALE_MS });
  return <bdi>{data?.name ?? id}</bdi>;
}

function Named({ to, name, id }: { to: string | undefined; name: string | undefined; id: string }) {
  const shown = name === undefined ? <code>{id}</code> : <bdi>{name}</bdi>;
  return to === undefined ? shown : <Link to={to}>{shown}</Link>;
}

/** What people call a key: its label, and how it ends. */
export const nameOfKey = ({ label, last_four }: Pick<ApiKey, 'label' | 'last_four'>): string =>
  label ? `${label} (…${last_four})` : `Key …${last_four}`;
