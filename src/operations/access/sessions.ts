import type { AuditAction } from '../../contract/audit-actions.ts';
import {
  getOperatorMe as getMeEndpoint,
  listSessions as listEndpoint,
  revokeSession as revokeEndpoint,
  revokeOwnSessions as revokeOwnEndpoint,
  type Session,
} from '../../contract/operator/access/sessions.ts';
import { Problem } from '../../contract/problems.ts';
import { secretHash } from '../../domain/access/api-key.ts';
import { type OperatorPrincipal, SYSTEM, type SystemPrincipal } from '../../domain/access/principal.ts';
import { firstTimes } from '../../domain/access/session.ts';
import { newId, randomBase62 } from '../../domain/ids.ts';
import { takeInvitation } from '../../store/access/invitations.ts';
import {
  findSession,
  insertSession,
  listSessionPage,
  lockSession,
  lockSessionsOf,
  markSessionRevoked,
  type SessionHolder,
  type StoredSession,
} from '../../store/access/sessions.ts';
import type { AuditRecord } from '../../store/audit-append.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { type App, nowIso, operation } from '../app.ts';

export const getOperatorMe = operation(getMeEndpoint, async (app, { principal }) => {
  const { sessionId } = principal;
  const now = nowIso(app);
  const found =
    sessionId === undefined
      ? undefined
      : await transact(app.db, principal, (tx) => findSession(tx, sessionId, now));
  const session = found && {
    id: found.id,
    expires_at: found.expires_at,
    idle_expires_at: found.idle_expires_at,
  };
  return { body: aboutOperator(app, principal, session ?? null), read: [] };
});

/** Somebody who operates the deployment, and what it is. */
export function aboutOperator<Session>(
  { environment, deployment }: App,
  { operatorId: id, name, role }: OperatorPrincipal,
  session: Session,
) {
  const { nodeId: _, settings: __, ...shown } = deployment;
  return { operator: { id, name, role }, session, environment, ...shown };
}

export const listSessions = operation(listEndpoint, async (app, { principal, query }) => {
  const page = await transact(app.db, principal, (tx) =>
    listSessionPage(tx, whose(principal), nowIso(app), query),
  );
  return { body: { ...page, data: page.data.map((one) => present(one, principal)) } };
});

export const revokeSession = operation(revokeEndpoint, async (app, call) => {
  const ended = transact(app.db, call.principal, async (tx) => {
    if (!(await end(app, tx, call, call.params.id, whose(call.principal)))) throw new Problem('not_found');
  });
  // Also when there is none: a call whose answer nobody heard may have ended it.
  await ended.finally(() => app.access.settle());
  return { body: undefined };
});

export const revokeOwnSessions = operation(revokeOwnEndpoint, async (app, call) => {
  await transact(app.db, call.principal, (tx) => endSessionsOf(app, tx, call, call.principal.operatorId));
  // Waits even without a session: an earlier call may have ended the sessions and lost its answer.
  await app.access.settle();
  return { body: undefined };
});

/** Admins see everybody's sessions. */
function whose({ role, operatorId }: OperatorPrincipal): string | null {
  return role === 'admin' ? null : operatorId;
}

function present(
  { invitation_id: _none, ...session }: StoredSession,
  { sessionId }: OperatorPrincipal,
): Session {
  return { ...session, operator_id: session.operator_id ?? '', is_current: session.id === sessionId };
}

/** From where somebody comes who is to be let in. */
export interface Arrival {
  address: string;
  userAgent: string | undefined;
  requestId: string;
  /** The session that the browser had before: it ends with the new one. */
  formerSessionId: string | undefined;
}

const USER_AGENT_MAX = 255;

/** Signs somebody in. The token is told this once; what is kept is its hash. */
export function beginSession(app: App, principal: OperatorPrincipal, arrival: Arrival): Promise<Begun> {
  return begin(app, principal, arrival, async () => ({
    operator_id: principal.operatorId,
    invitation_id: null,
    operator_name: principal.name,
  }));
}

/** The same for whoever brings the link of an invitation. Undefined: it is none that works. */
export async function enterByInvitation(
  app: App,
  link: string,
  arrival: Arrival,
): Promise<Begun | undefined> {
  const begun = begin(app, SYSTEM, arrival, async (tx) => {
    const invitation = await takeInvitation(tx, secretHash(link), nowIso(app));
    if (!invitation) throw new NoInvitation();
    return { operator_id: null, invitation_id: invitation.id, operator_name: invitation.name };
  });
  return begun.catch((error: unknown) => {
    if (error instanceof NoInvitation) return undefined;
    throw error;
  });
}

class NoInvitation extends Error {}

interface Begun {
  token: string;
  seconds: number;
}

type Holder = Pick<StoredSession, 'operator_id' | 'invitation_id' | 'operator_name'>;

async function begin(
  app: App,
  by: OperatorPrincipal | SystemPrincipal,
  arrival: Arrival,
  holderOf: (tx: Transaction) => Promise<Holder>,
): Promise<Begun> {
  const token = newSessionToken(app);
  const { formerSessionId, requestId } = arrival;
  await transact(app.db, by, async (tx) => {
    const holder = await holderOf(tx);
    const now = app.clock.now();
    const { idleExpiresAt, expiresAt } = firstTimes(now, app.access.sessions.limits);
    const at = new Date(now).toISOString();
    const session: StoredSession = {
      id: newId('ses', now, app.random),
      ...holder,
      address: arrival.address,
      user_agent: arrival.userAgent?.slice(0, USER_AGENT_MAX).toWellFormed() ?? null,
      created_at: at,
      last_used_at: at,
      idle_expires_at: new Date(idleExpiresAt).toISOString(),
      expires_at: new Date(expiresAt).toISOString(),
    };
    const principal = by.kind === 'operator' ? by : guestOf(session);
    if (formerSessionId !== undefined) await end(app, tx, { principal, requestId }, formerSessionId, null);
    insertSession(tx, session, secretHash(token));
    tx.audit(record({ principal, requestId }, at, 'session.begin', null, session));
  });
  if (formerSessionId !== undefined) await app.access.settle();
  return { token, seconds: app.access.sessions.limits.absoluteMs / 1000 };
}

function guestOf({ id: sessionId, invitation_id, operator_name: name }: StoredSession) {
  return { kind: 'guest' as const, invitationId: invitation_id ?? '', name, sessionId };
}

/** Signs somebody out. */
export async function endSession(
  app: App,
  whose: SessionHolder['principal'],
  requestId: string,
): Promise<void> {
  await transact(app.db, SYSTEM, (tx) =>
    end(app, tx, { principal: whose, requestId }, whose.sessionId, null),
  );
  await app.access.settle();
}

/** Tells whether there was such a session. */
async function end(
  app: App,
  tx: Transaction,
  actor: Doer,
  id: string,
  operatorId: string | null,
): Promise<boolean> {
  const found = await lockSession(tx, id, operatorId, nowIso(app));
  if (!found) return false;
  const now = nowIso(app);
  markSessionRevoked(tx, id, now);
  tx.audit(record(actor, now, 'session.end', found, null));
  return true;
}

/** Ends each session of an operator. */
export async function endSessionsOf(
  app: Pick<App, 'clock'>,
  tx: Transaction,
  actor: Doer,
  operatorId: string,
): Promise<void> {
  const now = nowIso(app);
  for (const found of await lockSessionsOf(tx, operatorId, now)) {
    markSessionRevoked(tx, found.id, now);
    tx.audit(record(actor, now, 'session.end', found, null));
  }
}

export function newSessionToken({ random }: Pick<App, 'random'>): string {
  return `pts_${randomBase62(random, 43)}`;
}

type Doer = Pick<AuditRecord, 'principal' | 'requestId'>;

function record(
  { principal, requestId }: Doer,
  at: string,
  action: AuditAction,
  before: StoredSession | null,
  after: StoredSession | null,
) {
  const subject = { type: 'session', id: before?.id ?? after?.id ?? '' };
  return { at, principal, action, subject, requestId, before, after };
}
