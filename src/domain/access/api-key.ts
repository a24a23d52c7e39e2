import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Environment } from '../../contract/access.ts';
import { toBase62 } from '../ids.ts';

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
const SECRET_LENGTH = 32;
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
  return text.startsWith(PREFIX[environment]) && isKey(text);
}

/** Whether it can be one of any environment. */
export function isKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** The fault that the text itself shows. Undefined: it can be a key of this environment, and only the database knows whether it is. */
export function faultOfKey(
  environment: Environment,
  text: string,
): 'missing' | 'several' | 'not_a_key' | 'other_environment' | 'length' | 'checksum' | undefined {
  if (text === '') return 'missing';
  // Node joins the values of a header that was sent twice.
  if (text.includes(',')) return 'several';
  const prefix = Object.values(PREFIX).find((one) => text.startsWith(one));
  if (prefix === undefined) return 'not_a_key';
  if (prefix !== PREFIX[environment]) return 'other_environment';
  if (text.length !== prefix.length + SECRET_LENGTH + CHECKSUM_LENGTH) return 'length';
  return isKey(text) ? undefined : 'checksum';
}

function checksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM_LENGTH);
}

/** Keys and tokens that are made here have 190 random bits and more, so a plain hash keeps them; a slow one would only slow the door. */
export function secretHash(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
