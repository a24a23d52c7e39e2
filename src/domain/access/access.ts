import { DEFAULT_RATE_LIMIT, type Scope } from '../../contract/access.ts';
import type { ApiKey } from '../../contract/operator/access/keys.ts';
import type { PartnerStatus } from '../../contract/operator/access/partners.ts';
import type { PracticeGroup } from '../../contract/partner/practice-groups.ts';
import type { RefusalReason } from '../../contract/partner/requests.ts';
import { listOf } from './address-list.ts';
import type { KeyHolder, Proof } from './principal.ts';

/**
 * Whether a key works: its partner is verified, it was not revoked, and it has not expired. (From where it may be used, and what must be
 * shown beside it, is asked of each call.) It may then act for its own practice
 * group and for those that share a network with it which lets its partner through and grants the scope (`sharesNetworkWith` in
 * store/practices/practice-groups.ts), unless the practice has stopped the partner (`isStopped` there).
 *
 * Fan-out asks the same of all webhooks of many practice groups in one statement, so the rule exists a second time, in SQL:
 * `receives_until`. The door cannot ask that function, because it remembers a key for a second and still refuses it at the very
 * instant of its expiry. test/service/access/access-agreement.test.ts fails on the first difference between the two.
 */

/** A key and what counts of its partner, as they are stored. */
export interface KeyRecord {
  id: string;
  partner_id: string;
  practice_group_id: string;
  scopes: Scope[];
  rate_limit_per_minute: number | null;
  expires_at: string | null;
  revoked_at: string | null;
  is_leaked: boolean;
  allowed_addresses: string[] | null;
  proof: ApiKey['proof'];
  certificate_fingerprints: string[];
  jwks: ApiKey['jwks'];
  partner_status: PartnerStatus;
  /** Of the agreement that it was issued under. */
  agreed_rate_limit_per_minute: number | null;
}

/** Who holds a key; nobody if somebody has taken it away. Time takes it away too: ask `hasExpired` at each use. */
export function holderOf(key: KeyRecord): KeyHolder | undefined {
  if (key.revoked_at !== null || key.partner_status !== 'verified') return undefined;
  return {
    keyId: key.id,
    partnerId: key.partner_id,
    homeGroupId: key.practice_group_id,
    scopes: new Set(key.scopes),
    rateLimitPerMinute: rateLimitOf(key),
    expiresAt: instantOf(key.expires_at),
    allowedFrom: key.allowed_addresses ? listOf(key.allowed_addresses) : undefined,
    proof: proofOf(key),
  };
}

/** A matter of the key and its agreement, whether or not anybody holds it. */
export function rateLimitOf(
  key: Pick<KeyRecord, 'rate_limit_per_minute' | 'agreed_rate_limit_per_minute'>,
): number {
  return key.rate_limit_per_minute ?? key.agreed_rate_limit_per_minute ?? DEFAULT_RATE_LIMIT;
}

function proofOf({ proof, certificate_fingerprints, jwks }: KeyRecord): Proof {
  if (proof === 'mtls') return { kind: 'mtls', fingerprints: certificate_fingerprints };
  // Without public keys no assertion holds.
  return proof === 'none' ? NO_PROOF : { kind: 'private_key_jwt', jwks: jwks ?? { keys: [] } };
}

const NO_PROOF: Proof = { kind: 'none' };

/** A key that is known and that nobody holds any more: whose it was, for those who ask why it is refused. */
export interface RefusedKey {
  keyId: string;
  partnerId: string;
  reason: RefusalReason;
}

export function refusedKey(key: KeyRecord): RefusedKey {
  const taken = key.is_leaked ? 'leaked' : 'revoked';
  const reason = key.revoked_at === null ? 'partner_not_verified' : taken;
  return { keyId: key.id, partnerId: key.partner_id, reason };
}

/** What the door says of a group that the key would reach, had its practice not stopped the partner. */
export interface StoppedGroup {
  stoppedBy: PracticeGroup;
}

export type FoundGroup = PracticeGroup | StoppedGroup | undefined;

export function isReached(found: FoundGroup): found is PracticeGroup {
  return found !== undefined && !('stoppedBy' in found);
}

/** A key, or an operator's token, no longer works at the instant of its expiry. */
export function hasExpired({ expiresAt }: Pick<KeyHolder, 'expiresAt'>, now: number): boolean {
  return expiresAt <= now;
}

/** What operators are shown of a key, or of a token. Whether a key's partner is verified is shown at the partner. */
export function keyStatus(
  { revoked_at, expires_at }: Pick<KeyRecord, 'revoked_at' | 'expires_at'>,
  now: number,
): ApiKey['status'] {
  if (revoked_at !== null) return 'revoked';
  return hasExpired({ expiresAt: instantOf(expires_at) }, now) ? 'expired' : 'active';
}

export function instantOf(expiresAt: string | null): number {
  return expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt);
}
