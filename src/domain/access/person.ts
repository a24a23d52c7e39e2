import type { Role } from '../../contract/access.ts';

/** What is made of what a provider of OpenID Connect says of somebody. */

type Claims = Record<string, unknown>;

/** Roles that people have, the one that may do most first. */
export const personRoles = ['admin', 'support', 'viewer'] as const satisfies Role[];

/** By its name, or, where none has that name, by a path of names: `realm_access.roles`. */
export function claimNamed(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const step of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Claims)[step];
  }
  return value;
}

/** The highest role that one of the claim's values stands for. */
export function roleOf(
  claims: Claims,
  claim: string,
  roles: ReadonlyMap<string, Role>,
): { role: Role | undefined; values: string[] } {
  const claimed = claimNamed(claims, claim);
  const values = (Array.isArray(claimed) ? claimed : [claimed]).filter((value) => typeof value === 'string');
  const given = new Set(values.map((value) => roles.get(value)));
  return { role: personRoles.find((role) => given.has(role)), values: values.map(shownText) };
}

/** OpenID Connect allows 255 ASCII characters. */
export function isSubject(value: unknown): value is string {
  return typeof value === 'string' && /^[ -~]{1,255}$/.test(value);
}

const SHOWN_MAX = 255;

/** A text of the provider as people may see it: one line, of limited length, in the order in which it is written. */
function shownText(value: string): string {
  const plain = value
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '')
    .trim();
  return [...plain].slice(0, SHOWN_MAX).join('');
}

/** As people know each other; the subject is an ID that nobody knows. */
export function nameOf(claims: Claims): string {
  const given = ['name', 'preferred_username', 'email', 'sub'].map((claim) => claims[claim]);
  const names = given.flatMap((value) => (typeof value === 'string' ? shownText(value) : []));
  return names.find((name) => name !== '') ?? '';
}
