import type { Environment } from '../../contract/access.ts';
import { secretHash } from '../../domain/access/api-key.ts';
import { invitationExpiry, invitationMessage } from '../../domain/access/invitation.ts';
import { SYSTEM } from '../../domain/access/principal.ts';
import { type RandomBytes, randomBase62 } from '../../domain/ids.ts';
import { retryAfter } from '../../domain/mail.ts';
import { type Clock, databaseTime } from '../../platform/clock.ts';
import { type Logger, redact } from '../../platform/logger.ts';
import { type Mailer, MailRefused } from '../../platform/mail.ts';
import {
  type ClaimedInvitation,
  claimInvitations,
  markInvitationFailed,
  markInvitationSent,
  setInvitationToken,
} from '../../store/access/invitations.ts';
import { type Database, transact } from '../../store/database.ts';

interface Surroundings {
  db: Database;
  clock: Clock;
  random: RandomBytes;
  log: Logger;
  environment: Environment;
  support: string;
  /** The page that a link leads to. */
  enterUrl: () => string;
}

const SENT_AT_ONCE = 5;
const ERROR_LENGTH_MAX = 500;

/**
 * Sends the invitations that are due, a few at a time, until there are no more or the service stops. The token is made when its message is sent, and
 * only its hash is stored. A repeated message has a new token.
 */
export async function sendInvitations(
  surroundings: Surroundings,
  mailer: Mailer,
  isStopped: () => boolean,
): Promise<void> {
  const { db, clock } = surroundings;
  while (!isStopped()) {
    const claimed = await transact(db, SYSTEM, (tx) =>
      claimInvitations(tx, databaseTime(clock), SENT_AT_ONCE),
    );
    await Promise.all(claimed.map((one) => send(surroundings, mailer, one)));
    if (claimed.length < SENT_AT_ONCE) return;
  }
}

async function send(
  { db, clock, random, log, environment, support, enterUrl }: Surroundings,
  mailer: Mailer,
  invitation: ClaimedInvitation,
): Promise<void> {
  const { id, email, name, tries } = invitation;
  const now = clock.now();
  const at = new Date(now).toISOString();
  const token = `pti_${randomBase62(random, 43)}`;
  const isOurs = await transact(db, SYSTEM, (tx) =>
    setInvitationToken(tx, invitation, secretHash(token), invitationExpiry(now)),
  );
  if (!isOurs) return;
  const message = invitationMessage({
    name,
    invitedBy: invitation.invited_by_name,
    toWhom: invitation.to_whom,
    environment,
    link: `${enterUrl()}#${token}`,
    support,
  });
  try {
    // Each is another message: the link in it is.
    await mailer.send({ ...message, to: { name, address: email }, date: at, id: `${id}-${tries}` });
  } catch (error) {
    const isPermanent = error instanceof MailRefused && error.isPermanent;
    const delayMs = retryAfter(tries, isPermanent);
    const reason = redact(error instanceof Error ? error.message : String(error)).slice(0, ERROR_LENGTH_MAX);
    log.warn(
      { invitation: id, tries, reason, given_up: delayMs === undefined },
      'an invitation was not sent',
    );
    const tryAt = delayMs === undefined ? null : new Date(now + delayMs).toISOString();
    await transact(db, SYSTEM, async (tx) => markInvitationFailed(tx, invitation, tryAt, reason));
    return;
  }
  await transact(db, SYSTEM, async (tx) => markInvitationSent(tx, invitation, at));
}
