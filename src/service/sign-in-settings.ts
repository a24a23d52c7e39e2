import { type ApprovalKind, approvalKinds, type Role } from '../contract/access.ts';
import { personRoles } from '../domain/access/person.ts';
import { isLoopback } from '../http/transport.ts';
import type { OidcSettings } from '../platform/oidc.ts';

/** The settings by which people come into the console, read as `config.ts` reads the others. */

export type SignInSettings = OidcSettings & { rolesClaim: string; roles: ReadonlyMap<string, Role> };

type Read = <T>(name: string, fallback: T, parse: (text: string) => T) => T;

/** Undefined where nothing is said of a provider. */
export function readOidc(read: Read, production: boolean, problems: string[]): SignInSettings | undefined {
  const asItIs = (text: string) => text;
  const issuer = read('PORTER_OIDC_ISSUER', undefined, issuerUrl(production));
  const clientId = read('PORTER_OIDC_CLIENT_ID', undefined, asItIs);
  const roles = read('PORTER_OIDC_ROLES', undefined, claimedRoles);
  const clientSecret = read('PORTER_OIDC_CLIENT_SECRET', undefined, asItIs);
  const scopes = read('PORTER_OIDC_SCOPES', 'openid profile email', oidcScopes);
  const rolesClaim = read('PORTER_OIDC_ROLES_CLAIM', 'groups', asItIs);
  if (issuer && clientId !== undefined && roles)
    return { ...issuer, clientId, clientSecret, scopes, rolesClaim, roles };
  if (issuer ?? clientId ?? roles)
    problems.push('PORTER_OIDC_ISSUER, PORTER_OIDC_CLIENT_ID and PORTER_OIDC_ROLES: set all or none');
  return undefined;
}

/** In staging also one on this machine, without TLS. */
function issuerUrl(production: boolean): (text: string) => Pick<OidcSettings, 'issuer' | 'isLocal'> {
  return (text) => {
    const url = URL.parse(text);
    const isHere = url?.hostname === 'localhost' || isLoopback(url?.hostname ?? '');
    const isLocal = url?.protocol === 'http:' && !production && isHere;
    if (url?.protocol !== 'https:' && !isLocal) throw new Error(`"${text}" is not an https address`);
    return { issuer: text, isLocal };
  };
}

/** `porter-admins=admin, porter-support=support`: a value of the claim, and the role that it stands for. */
function claimedRoles(text: string): ReadonlyMap<string, Role> {
  return new Map(
    listOf(text).map((entry) => {
      const at = entry.lastIndexOf('=');
      const named = entry.slice(at + 1).trim();
      const role = personRoles.find((one) => one === named);
      if (at < 1 || !role)
        throw new Error(`"${entry}" is not a value, = and one of ${personRoles.join(', ')}`);
      return [entry.slice(0, at).trim(), role];
    }),
  );
}

function oidcScopes(text: string): string {
  if (!text.split(' ').includes('openid')) throw new Error('must have openid among them');
  return text;
}

/** What waits for a second person. */
export function approvals(text: string): ApprovalKind[] {
  const named = listOf(text);
  const unknown = named.find((name) => !approvalKinds.some((kind) => kind === name));
  if (unknown !== undefined) throw new Error(`"${unknown}" is not one of ${approvalKinds.join(', ')}`);
  return approvalKinds.filter((kind) => named.includes(kind));
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
}
