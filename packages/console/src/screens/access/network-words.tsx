import type { Network, Partner } from '../../api/generated.ts';

/** What a network lets through, as a sentence. */
export function toGrant(
  { scopes, partner_ids }: Pick<Network, 'scopes' | 'partner_ids'>,
  partners: readonly Partner[],
): string {
  const what = scopes === null ? 'everything that a key may' : scopes.join(', ');
  const names = partner_ids?.map((id) => partners.find((one) => one.id === id)?.name ?? id);
  return `${what}, ${names ? `by keys of ${names.join(', ')}` : 'by keys of every partner'}`;
}

export const toCount = (count: number, one: string, many = `${one}s`): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
