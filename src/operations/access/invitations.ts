import type { AuditAction } from '../../contract/audit-actions.ts';
import {
  type Invitation,
  listInvitations as listEndpoint,
  createPartnerInvitation as ofPartnerEndpoint,
  createPracticeInvitation as ofPracticeEndpoint,
  withdrawInvitation as withdrawEndpoint,
} from '../../contract/operator/access/invitations.ts';
import { Problem } from '../../contract/problems.ts';
import { invitationStatus, type StoredInvitation } from '../../domain/access/invitation.ts';
import { newId } from '../../domain/ids.ts';
import {
  insertInvitation,
  listInvitationPage,
  lockInvitation,
  lockInvitationsTo,
  lockUnusedInvitationsBy,
  markWithdrawn,
} from '../../store/access/invitations.ts';
import { findPartner } from '../../store/access/partners.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { findGroup } from '../../store/practices/practice-groups.ts';
import { type Actor, type App, nowIso, type OperatorCall, operation } from '../app.ts';

/** Writes the invitation; the message goes out behind the answer (runtime/access/invitations.ts). */

export const createPartnerInvitation = operation(ofPartnerEndpoint, (app, call) => {
  return transact(app.db, call.principal, async (tx) => {
    if (!(await findPartner(tx, call.params.id))) throw new Problem('not_found');
    return invite(app, tx, call, { partner_id: call.params.id, practice_group_id: null });
  });
});

export const createPracticeInvitation = operation(ofPracticeEndpoint, (app, call) => {
  return transact(app.db, call.principal, async (tx) => {
    if (!(await findGroup(tx, call.params.id))) throw new Problem('not_found');
    return invite(app, tx, call, { partner_id: null, practice_group_id: call.params.id });
  });
});

function invite(
  app: App,
  tx: Transaction,
  call: OperatorCall<typeof ofPartnerEndpoint>,
  whose: Pick<StoredInvitation, 'partner_id' | 'practice_group_id'>,
) {
  const now = nowIso(app);
  const { operatorId, name } = call.principal;
  const invitation: StoredInvitation = {
    id: newId('inv', app.clock.now(), app.random),
    ...whose,
    ...call.body,
    invited_by: operatorId,
    invited_by_name: name,
    created_at: now,
    try_at: now,
    sent_at: null,
    error: null,
    expires_at: null,
    entered_at: null,
    revoked_at: null,
  };
  insertInvitation(tx, invitation);
  record(app, tx, call, now, 'invitation.create', null, invitation);
  return { body: present(app, invitation) };
}

export const listInvitations = operation(listEndpoint, async (app, { principal, query }) => {
  const page = await transact(app.db, principal, (tx) => listInvitationPage(tx, query));
  return { body: { ...page, data: page.data.map((one) => present(app, one)) } };
});

export const withdrawInvitation = operation(withdrawEndpoint, async (app, call) => {
  const invitation = await transact(app.db, call.principal, async (tx) => {
    const before = await lockInvitation(tx, call.params.id);
    if (!before) throw new Problem('not_found');
    return before.revoked_at === null ? withdraw(app, tx, call, before) : before;
  });
  await app.access.settle();
  return { body: present(app, invitation) };
});

/** Those of a partner to one address. Whether there were any. */
export async function withdrawInvitationsTo(
  app: App,
  tx: Transaction,
  actor: Actor,
  partnerId: string,
  email: string,
): Promise<boolean> {
  const all = await lockInvitationsTo(tx, partnerId, email);
  for (const one of all) withdraw(app, tx, actor, one);
  return all.length > 0;
}

/** Of an operator who is revoked: links that nobody has used. Whoever has come in by one is there on the partner's or the practice's behalf. */
export async function withdrawInvitationsBy(
  app: App,
  tx: Transaction,
  actor: Actor,
  operatorId: string,
): Promise<void> {
  for (const one of await lockUnusedInvitationsBy(tx, operatorId)) withdraw(app, tx, actor, one);
}

function withdraw(app: App, tx: Transaction, actor: Actor, before: StoredInvitation): StoredInvitation {
  const now = nowIso(app);
  markWithdrawn(tx, before.id, now);
  const after = { ...before, try_at: null, revoked_at: now };
  record(app, tx, actor, now, 'invitation.withdraw', before, after);
  return after;
}

function present({ clock, sendsMail }: App, one: StoredInvitation): Invitation {
  const { invited_by, invited_by_name, try_at: _tryAt, revoked_at: _revokedAt, ...shown } = one;
  const status = invitationStatus(one, clock.now());
  const error = status === 'waiting' && !sendsMail ? NO_MAIL : one.error;
  return { ...shown, error, status, invited_by: { id: invited_by, name: invited_by_name } };
}

const NO_MAIL = 'Mail is not set up: see the setting PORTER_SMTP_URL.';

function record(
  app: App,
  tx: Transaction,
  { principal, requestId }: Actor,
  at: string,
  action: AuditAction,
  before: StoredInvitation | null,
  after: StoredInvitation,
): void {
  tx.audit({
    at,
    principal,
    action,
    subject: { type: 'invitation', id: after.id },
    practiceGroupId: after.practice_group_id ?? undefined,
    requestId,
    before: before && present(app, before),
    after: present(app, after),
  });
}
