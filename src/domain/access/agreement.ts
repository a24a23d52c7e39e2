import type { Agreement } from '../../contract/operator/access/agreements.ts';
import type { Sla, SlaTargets } from '../../contract/sla.ts';

/**
 * An agreement that has ended cuts nobody off: keys under it go on working on its terms, because practices depend on them and a contract
 * is renewed late more often than it is meant to end. It is shown (`active_keys`), and no further key is issued under it. Whoever means to
 * end access revokes the keys or suspends the partner.
 */
export function agreementStatus({ ends_at }: Pick<Agreement, 'ends_at'>, now: number): Agreement['status'] {
  return ends_at !== null && Date.parse(ends_at) <= now ? 'ended' : 'in_force';
}

type Signed = Pick<Agreement, 'id' | 'signed_at' | 'created_at'>;

/** The one that was signed last gives the terms of the partner. Undefined: there is none. */
export function newestOf<A extends Signed>(agreements: readonly A[]): A | undefined {
  return agreements.toSorted(signedLast)[0];
}

/** What a new key is issued under. Undefined: none is in force. */
export function newestInForce<A extends Signed & Pick<Agreement, 'ends_at'>>(
  agreements: readonly A[],
  now: number,
): A | undefined {
  return newestOf(agreements.filter((one) => agreementStatus(one, now) === 'in_force'));
}

/** What was signed at one moment comes in the order in which it was recorded. */
function signedLast(one: Signed, other: Signed): number {
  return (
    Date.parse(other.signed_at) - Date.parse(one.signed_at) ||
    Date.parse(other.created_at) - Date.parse(one.created_at) ||
    (one.id < other.id ? 1 : -1)
  );
}

const measures = [
  ['availability_percent', '% available'],
  ['delivery_success_percent', '% delivered'],
] as const;
const times = [
  ['latency_ms', 'answered within', 'ms'],
  ['delivery_seconds', 'delivered within', 's'],
] as const;
const SHARES = { p50: 'half', p95: '95 %', p99: '99 %' } as const;

/** For where an SLA is told as a text. */
export function slaInWords(sla: Sla | null): string | null {
  if (sla === null || typeof sla === 'string') return sla;
  return [
    ...measures.flatMap(([name, words]) => (sla[name] === undefined ? [] : `${sla[name]} ${words}`)),
    ...times.flatMap(([name, words, unit]) =>
      quantilesOf(sla[name]).map(([share, target]) => `${SHARES[share]} ${words} ${target} ${unit}`),
    ),
  ].join(', ');
}

export type Quantile = keyof typeof SHARES;

export function quantilesOf(targets: SlaTargets['latency_ms']): [Quantile, number][] {
  return (Object.keys(SHARES) as Quantile[]).flatMap((share) => {
    const target = targets?.[share];
    return target === undefined ? [] : [[share, target] satisfies [Quantile, number]];
  });
}
