import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DEFAULT_RATE_LIMIT, type Environment, type Scope } from '../contract/access.ts';
import type { ApiKey } from '../contract/operator/keys.ts';
import { toBase62 } from './ids.ts';
import type { KeyHolder } from './principal.ts';

/**
 * `ptr_live_` or `ptr_test_`, 32 random base62 characters, then their CRC-32 (over prefix and secret) as 6 base62
 * characters. The checksum lets leak scanners and a typo check work offline, and spares the database every guess
 * that is not even well-formed.
 */
const PREFIX = { production: 'ptr_live_', staging: 'ptr_test_' } as const satisfies Record<
  Environment,
  string
>;
const SHAPE = /^ptr_(?:live|test)_[0-9A-Za-z]{38}$/;
const CHECKSUM_LENGTH = 6;

export function keyPrefix(environment: Environment): string {
  return PREFIX[environment];
}

/** `secret`: 32 random base62 characters. */
export function formatKey(environment: Environment, secret: string): string {
  const body = PREFIX[environment] + secret;
  return body + checksum(body);
}

/** Whether a text can be a key of this environment at all. */
export function isWellFormedKey(environment: Environment, text: string): boolean {
  if (!text.startsWith(PREFIX[environment]) || !SHAPE.test(text)) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

function checksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_LENGTH);
}

/** Keys and tokens that are made here have 190 random bits and more, so a plain hash keeps them; a slow one would only slow the door. */
export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** What the door needs to know of a key that was not revoked and whose partner is verified. */
export interface LiveKey {
  id: string;
  partner_id: string;
  practice_group_id: string;
  scopes: Scope[];
  /** Of the key, else of its partner; null where neither has one of its own. */
  rate_limit: number | null;
  expires_at: string | null;
}

export function holderOf(key: LiveKey): KeyHolder {
  return {
    keyId: key.id,
    partnerId: key.partner_id,
    homeGroupId: key.practice_group_id,
    scopes: new Set(key.scopes),
    rateLimitPerMinute: key.rate_limit ?? DEFAULT_RATE_LIMIT,
    expiresAt: expiryOf(key),
  };
}

function expiryOf({ expires_at }: Pick<ApiKey, 'expires_at'>): number {
  return expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
}

/** Whether a key is expired. Fan-out asks the same of all keys of a partner, in SQL: `may_receive`. */
export function isExpired({ expiresAt }: Pick<KeyHolder, 'expiresAt'>, nowMs: number): boolean {
  return expiresAt <= nowMs;
}

export function keyStatus(key: Pick<ApiKey, 'expires_at' | 'revoked_at'>, nowMs: number): ApiKey['status'] {
  if (key.revoked_at) return 'revoked';
  return isExpired({ expiresAt: expiryOf(key) }, nowMs) ? 'expired' : 'active';
}
