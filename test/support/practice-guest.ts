import { randomBytes } from 'node:crypto';
import { secretHash } from '../../src/domain/access/api-key.ts';
import { SYSTEM } from '../../src/domain/access/principal.ts';
import { randomBase62 } from '../../src/domain/ids.ts';
import { setInvitationToken } from '../../src/store/access/invitations.ts';
import { transact } from '../../src/store/database.ts';
import { cookieOf, type Visitor, visitor } from './console-session.ts';
import type { Harness } from './service.ts';

/** Somebody of a practice, in by an invitation whose message was not waited for. `house`: on which node. */
export async function enterPractice(house: Harness, groupId: string, name = 'Ada Marsh'): Promise<Visitor> {
  const invited = { email: 'manager@practice.example', name };
  return enter(house, await house.operator('POST', `/practice-groups/${groupId}/invitations`, invited));
}

export async function enterPartner(house: Harness, partnerId: string): Promise<Visitor> {
  const invited = { email: 'dev@partner.example', name: 'Dana Doyle' };
  return enter(house, await house.operator('POST', `/partners/${partnerId}/invitations`, invited));
}

async function enter(house: Harness, { id }: { id: string }): Promise<Visitor> {
  const token = `pti_${randomBase62(randomBytes, 43)}`;
  const until = new Date(house.clock.now() + 3_600_000).toISOString();
  const claimed = { id, email: '', name: '', invited_by_name: '', to_whom: '', created_at: '', tries: 0 };
  await transact(house.service.app.db, SYSTEM, (tx) =>
    setInvitationToken(tx, claimed, secretHash(token), until),
  );
  const answer = await house.send('POST', '/console/enter', { body: { token } });
  return visitor(house, cookieOf(answer) ?? '');
}

/** Somebody of the practice stops the partner, on this node. */
export async function stopPartner(
  house: Harness,
  { groupId, partnerId }: { groupId: string; partnerId: string },
) {
  const manager = await enterPractice(house, groupId);
  const answer = await manager.send('PUT', `/practice/v1/partners/${partnerId}/stop`, {
    body: { reason: 'Too much is read' },
  });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer.body;
}

export async function resumePartner(
  house: Harness,
  { groupId, partnerId }: { groupId: string; partnerId: string },
) {
  const manager = await enterPractice(house, groupId);
  const answer = await manager.send('DELETE', `/practice/v1/partners/${partnerId}/stop`);
  if (answer.status !== 204) throw new Error(`${answer.status} ${answer.text}`);
}
