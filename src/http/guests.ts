import { GUEST_RATE_LIMIT, type GuestKind } from '../contract/access.ts';
import { refusalReasons } from '../contract/partner/requests.ts';
import { Problem } from '../contract/problems.ts';
import { hasExpired } from '../domain/access/access.ts';
import type {
  GuestPrincipal,
  KeyHolder,
  PortalPrincipal,
  PracticePrincipal,
} from '../domain/access/principal.ts';
import type { App } from '../operations/app.ts';
import { isHolder } from '../runtime/access/access.ts';
import {
  countOperator,
  findOwnSession,
  mayComeFrom,
  refuseStranger,
  renewSession,
  tellOrRefuse,
} from './admit.ts';
import type { Exchange } from './exchange.ts';

/**
 * The door for people of partners and practices who were invited into the console.
 *
 * Beside what is declared for them, people of a partner do what the contract marks `portal` with one of their partner's keys, which they name
 * by its ID in `x-porter-key`. They then stand where the key would: it has to work at this moment, with its scopes and its networks, so no rule of
 * access exists a second time. What differs is what speaks of programs: their calls have an allowance of their own and take nothing of the
 * key's, they are no usage of the key and no refusal of its calls, and whoever changes something is named in the audit.
 *
 * A key may ask for more than itself: a certificate, an assertion, an address. A session can show none of that. With such a key people read, and
 * change nothing: what the partner has put behind a certificate must not be had for a link in a message.
 */

/** By the session of the console alone. Everybody else who is signed in is told that this is not for them. */
export async function admitGuest<K extends GuestKind>(
  app: App,
  exchange: Exchange,
  kind: K,
): Promise<K extends 'partner' ? PortalPrincipal : PracticePrincipal>;
export async function admitGuest(app: App, exchange: Exchange, kind: GuestKind): Promise<GuestPrincipal> {
  const guest = (await findOwnSession(app, exchange))?.principal;
  if (!guest || hasExpired(guest, app.clock.now())) return refuseStranger(app, exchange);
  const notTheirs = () => refusal(`These are the pages of a ${kind}, for people of it who were invited.`);
  // Counted before that is told, as in every other call.
  if (guest.kind === 'operator') {
    await countOperator(app, exchange, guest);
    throw notTheirs();
  }
  const { name, invitationId, sessionId } = guest;
  exchange.trace.guest = { name, invitationId, sessionId };
  if (guest.partner) exchange.trace.partnerId = guest.partner.id;
  const decision = await app.limits.guests.take(invitationId, GUEST_RATE_LIMIT);
  tellOrRefuse(exchange, decision, GUEST_RATE_LIMIT, 'guest');
  // Of a practice that was removed, nobody is left.
  if (guest[kind === 'partner' ? 'partner' : 'practiceGroup'] === null) throw notTheirs();
  await renewSession(app, exchange);
  return guest;
}

/** By the session, whose token may have changed since: for an answer that goes on. */
export async function isGuestStillAdmitted(app: App, { sessionId }: GuestPrincipal): Promise<boolean> {
  const found = await app.access.sessions.principalOf(sessionId);
  return found?.kind === 'guest' && !hasExpired(found, app.clock.now());
}

/** Whether a call names a key instead of bringing one. */
export function namesKey({ headers }: Exchange): boolean {
  return headers['x-porter-key'] !== undefined && headers['x-api-key'] === undefined;
}

/** The key that somebody of its partner acts with. */
export async function admitNamedKey(
  app: App,
  exchange: Exchange,
  changes: boolean,
): Promise<{ holder: KeyHolder; person: PortalPrincipal }> {
  const person = await admitGuest(app, exchange, 'partner');
  const found = await app.access.holderOfId(String(exchange.headers['x-porter-key']));
  // Another partner's is answered like one that does not exist.
  if (!found || found.partnerId !== person.partner.id) throw refusal(NO_KEY);
  if (exchange.trace.guest) exchange.trace.guest.keyId = found.keyId;
  if (!isHolder(found)) throw refusal(refusalReasons[found.reason]);
  if (hasExpired(found, app.clock.now())) throw refusal(refusalReasons.expired);
  if (changes && found.proof.kind !== 'none') throw refusal(NO_PROOF);
  if (changes && !mayComeFrom(found, exchange)) throw refusal(NO_ADDRESS);
  return { holder: found, person };
}

const NO_KEY = 'Your partner has no such key. Name one of its own in x-porter-key.';
const NO_PROOF =
  'This key asks for a certificate or a signed assertion, which a session cannot show: in the portal it reads, and changes nothing. Make the call with the key itself.';
const NO_ADDRESS =
  'This key changes things only from its allowed_addresses, and you are elsewhere. Do it from there, or make the call with the key itself.';

const refusal = (message: string) => new Problem('insufficient_permissions', { message });
