import type { Role } from '../contract/access.ts';
import { legible } from '../contract/fields.ts';

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
  return { role: personRoles.find((role) => given.has(role)), values };
}

const NAME_MAX = 255;

/** As people know each other; the subject is an ID that nobody knows. */
export function nameOf(claims: Claims): string {
  const given = ['name', 'preferred_username', 'email', 'sub'].map((claim) => claims[claim]);
  const name = given.find((value) => typeof value === 'string' && value.trim() !== '');
  const plain = legible(String(name).toWellFormed()).trim();
  return [...plain].slice(0, NAME_MAX).join('');
}
