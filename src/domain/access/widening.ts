import type { ApiKey } from '../../contract/operator/access/keys.ts';
import type { Operator } from '../../contract/operator/access/operators.ts';
import { rangeIsWithin } from './address-list.ts';

/** Decides whether a change gives more than before, and so needs a second person where the deployment asks for one. */

type Key = Pick<
  ApiKey,
  | 'scopes'
  | 'expires_at'
  | 'agreement_id'
  | 'allowed_addresses'
  | 'proof'
  | 'certificate_fingerprints'
  | 'jwks'
> & {
  /** The limit that applies, from the key or from its agreement. */
  rateLimit: number;
};

/** A change that widens one setting and narrows another widens. The label has no say. */
export function widensKey(before: Key, after: Key): boolean {
  return (
    after.scopes.some((scope) => !before.scopes.includes(scope)) ||
    isLater(before.expires_at, after.expires_at) ||
    after.rateLimit > before.rateLimit ||
    after.agreement_id !== before.agreement_id ||
    widensAddresses(before.allowed_addresses, after.allowed_addresses) ||
    weakensProof(before, after)
  );
}

export function widensOperator(
  before: Pick<Operator, 'expires_at'>,
  after: Pick<Operator, 'expires_at'>,
): boolean {
  return isLater(before.expires_at, after.expires_at);
}

/** Null is never. */
function isLater(before: string | null, after: string | null): boolean {
  return before !== null && (after === null || Date.parse(after) > Date.parse(before));
}

/** Each range must lie within one range from before. Null is anywhere. */
function widensAddresses(before: Key['allowed_addresses'], after: Key['allowed_addresses']): boolean {
  if (before === null) return false;
  return after === null || after.some((range) => !before.some((outer) => rangeIsWithin(range, outer)));
}

/** Another proof is weaker: nothing says who holds what it asks for. So is a certificate or a public key that was not taken before. */
function weakensProof(before: Key, after: Key): boolean {
  if (before.proof === 'none') return false;
  if (after.proof !== before.proof) return true;
  if (before.proof === 'mtls')
    return after.certificate_fingerprints.some((one) => !before.certificate_fingerprints.includes(one));
  return publicKeys(after).some((one) => !publicKeys(before).includes(one));
}

function publicKeys({ jwks }: Key): string[] {
  return (jwks?.keys ?? []).map(({ kid, n, e }) => JSON.stringify([kid, n, e]));
}
