import type { Role } from '../../contract/access.ts';
import type { Operator } from '../../contract/operator/access/operators.ts';
import { instantOf } from '../../domain/access/access.ts';
import { claimNamed, isSubject, nameOf, roleOf } from '../../domain/access/person.ts';
import { type OperatorPrincipal, SYSTEM } from '../../domain/access/principal.ts';
import { newId, randomBase62 } from '../../domain/ids.ts';
import { type Claims, SignInRefused, type SignInSecrets } from '../../platform/oidc.ts';
import { insertPerson, lockPerson, updatePersonRow } from '../../store/access/operators.ts';
import { transact } from '../../store/database.ts';
import { type App, nowIso } from '../app.ts';
import { presentOperator, recordOperator } from './operators.ts';

/** How people come in through the provider of OpenID Connect. */
type PeopleDoor = NonNullable<App['people']>;

/** So long somebody may take at the provider. */
const SIGN_IN_MS = 10 * 60_000;
const OWNER = 'console sign-in';

/** Of a sign-in that has begun: goes to the browser, sealed, and comes back with the answer of the provider. */
interface Begun extends SignInSecrets {
  /** The page to go on to. */
  to: string;
  until: number;
}

export interface BegunSignIn {
  url: string;
  sealed: string;
  seconds: number;
}

export async function beginSignIn(
  app: App,
  { provider }: PeopleDoor,
  redirectUri: string,
  to: string,
): Promise<BegunSignIn> {
  const secret = () => randomBase62(app.random, 43);
  const begun: Begun = {
    state: secret(),
    nonce: secret(),
    verifier: secret(),
    to,
    until: app.clock.now() + SIGN_IN_MS,
  };
  const url = await provider.authorizationUrl(redirectUri, begun);
  const { sealed, keyId } = app.sealer.seal(Buffer.from(JSON.stringify(begun)), OWNER);
  return { url, sealed: `${keyId}.${sealed.toString('base64url')}`, seconds: SIGN_IN_MS / 1000 };
}

/** What came of it: somebody with a role here, or why not. */
export type Outcome =
  | { kind: 'in'; principal: OperatorPrincipal; to: string }
  | { kind: 'no_role'; name: string; values: string[]; wanted: string[] }
  | { kind: 'revoked'; name: string };

/** Undefined: this browser has begun none, or too long ago. */
export function openSignIn(app: App, sealed: string | undefined): Begun | undefined {
  const [keyId = '', text = ''] = sealed?.split('.') ?? [];
  if (!app.sealer.keyIds.includes(keyId)) return undefined;
  try {
    const opened = app.sealer.open({ keyId, sealed: Buffer.from(text, 'base64url') }, OWNER);
    const begun = JSON.parse(opened.toString('utf8')) as Begun;
    return begun.until > app.clock.now() ? begun : undefined;
  } catch {
    return undefined;
  }
}

export async function completeSignIn(
  app: App,
  { provider, rolesClaim, roles }: PeopleDoor,
  callbackUrl: string,
  begun: Begun,
  requestId: string,
): Promise<Outcome> {
  const hasRoles = (claims: Claims) => claimNamed(claims, rolesClaim) !== undefined;
  const claims = await provider.redeem(callbackUrl, begun, hasRoles);
  if (!isSubject(claims.sub))
    throw new SignInRefused('the claim "sub" of the ID token is not 1 to 255 printable ASCII characters');
  const name = nameOf(claims);
  const { role, values } = roleOf(claims, rolesClaim, roles);
  if (!role) return { kind: 'no_role', name, values, wanted: [...roles.keys()] };
  const principal = await welcome(app, { issuer: claims.iss, subject: claims.sub, name, role }, requestId);
  return principal ? { kind: 'in', principal, to: begun.to } : { kind: 'revoked', name };
}

interface Person {
  issuer: string;
  subject: string;
  name: string;
  role: Role;
}

/** The operator that a person is here, made with the first sign-in; undefined when it was revoked here. */
async function welcome(app: App, person: Person, requestId: string): Promise<OperatorPrincipal | undefined> {
  const { name, role } = person;
  const actor = { principal: SYSTEM, requestId };
  const { operator, isOther } = await transact(app.db, SYSTEM, async (tx) => {
    const now = nowIso(app);
    const made = await insertPerson(tx, { id: newId('opr', app.clock.now(), app.random), ...person }, now);
    const found = await lockPerson(tx, person.issuer, person.subject);
    if (!found) throw new Error('a person was made and is not there');
    const before = presentOperator(app, found);
    if (made) tx.audit(recordOperator(actor, now, 'operator.create', null, before));
    if (before.status !== 'active') return { operator: before, isOther: false };
    const after: Operator = { ...before, name, role, last_used_at: now };
    updatePersonRow(tx, after);
    const isOther = before.name !== name || before.role !== role;
    if (isOther)
      tx.audit(
        recordOperator(actor, now, 'operator.update', before, {
          ...after,
          last_used_at: before.last_used_at,
        }),
      );
    return { operator: after, isOther };
  });
  // Sessions that go on have the role of before for a second.
  if (isOther) await app.access.settle();
  if (operator.status !== 'active') return undefined;
  return { kind: 'operator', operatorId: operator.id, name, role, expiresAt: instantOf(operator.expires_at) };
}
