import type {
  addNetworkMember as addEndpoint,
  createNetwork as createEndpoint,
  deleteNetwork as deleteEndpoint,
  getNetwork as getEndpoint,
  listNetworks as listEndpoint,
  Network,
  removeNetworkMember as removeEndpoint,
} from '../contract/operator/networks.ts';
import { Problem } from '../contract/problems.ts';
import { MEMBERS_MAX, naming, ruleBroken } from '../contract/rules.ts';
import { newId } from '../domain/ids.ts';
import { type Transaction, transact } from '../store/database.ts';
import {
  deleteMember,
  deleteNetworkRow,
  findNetwork,
  insertMembers,
  insertNetwork,
  listNetworkPage,
  lockNetwork,
  touchNetwork,
} from '../store/networks.ts';
import { findGroup } from '../store/practice-groups.ts';
import { type Actor, type App, nowIso, type OperatorCall } from './app.ts';

/**
 * A network is a permission. One that is given works at once (the door remembers no refusals); one that is taken away
 * is waited out before the answer, so that it no longer works anywhere when the operator hears that it is gone.
 */

export async function createNetwork(app: App, call: OperatorCall<typeof createEndpoint>) {
  const now = nowIso(app);
  const network: Network = {
    id: newId('net', app.clock.now(), app.random),
    name: call.body.name,
    practice_group_ids: [...new Set(call.body.practice_group_ids)].sort(),
    created_at: now,
    updated_at: now,
  };
  await transact(app.db, call.principal, async (tx) => {
    insertNetwork(tx, { id: network.id, name: network.name, now });
    const known = new Set(await insertMembers(tx, network.id, network.practice_group_ids, now));
    const unknown = network.practice_group_ids.filter((id) => !known.has(id));
    if (unknown.length > 0)
      throw ruleBroken('members_unknown', `There is no practice group ${naming(unknown)}.`);
    audit(tx, call, now, 'network.create', null, network);
  });
  app.access.forget();
  return { body: network };
}

export async function listNetworks(app: App, call: OperatorCall<typeof listEndpoint>) {
  return { body: await transact(app.db, call.principal, (tx) => listNetworkPage(tx, call.query)) };
}

export async function getNetwork(app: App, call: OperatorCall<typeof getEndpoint>) {
  const body = await transact(app.db, call.principal, (tx) => findNetwork(tx, call.params.id));
  if (!body) throw new Problem('not_found');
  return { body };
}

export async function deleteNetwork(app: App, call: OperatorCall<typeof deleteEndpoint>) {
  await transact(app.db, call.principal, async (tx) => {
    const before = await lockNetwork(tx, call.params.id);
    if (!before) throw new Problem('not_found');
    const now = nowIso(app);
    deleteNetworkRow(tx, before.id, now);
    audit(tx, call, now, 'network.delete', before, null);
  });
  await app.access.settle();
  return { body: undefined };
}

export async function addNetworkMember(app: App, call: OperatorCall<typeof addEndpoint>) {
  const { id, practice_group_id: groupId } = call.params;
  await transact(app.db, call.principal, async (tx) => {
    const before = await lockNetwork(tx, id);
    if (!before || !(await findGroup(tx, groupId))) throw new Problem('not_found');
    if (before.practice_group_ids.includes(groupId)) return;
    if (before.practice_group_ids.length >= MEMBERS_MAX) throw ruleBroken('network_full');
    const now = nowIso(app);
    await insertMembers(tx, id, [groupId], now);
    changeMembers(tx, call, now, before, [...before.practice_group_ids, groupId].sort(), groupId);
  });
  app.access.forget();
  return { body: undefined };
}

export async function removeNetworkMember(app: App, call: OperatorCall<typeof removeEndpoint>) {
  const { id, practice_group_id: groupId } = call.params;
  await transact(app.db, call.principal, async (tx) => {
    const before = await lockNetwork(tx, id);
    const now = nowIso(app);
    if (!before || !(await deleteMember(tx, id, groupId, now))) throw new Problem('not_found');
    const left = before.practice_group_ids.filter((other) => other !== groupId);
    changeMembers(tx, call, now, before, left, groupId);
  });
  await app.access.settle();
  return { body: undefined };
}

function changeMembers(
  tx: Transaction,
  actor: Actor,
  now: string,
  before: Network,
  members: string[],
  groupId: string,
): void {
  touchNetwork(tx, before.id, now);
  const after = { ...before, practice_group_ids: members, updated_at: now };
  audit(tx, actor, now, 'network.members', before, after, groupId);
}

function audit(
  tx: Transaction,
  { principal, requestId }: Actor,
  at: string,
  action: string,
  before: Network | null,
  after: Network | null,
  practiceGroupId?: string,
): void {
  const id = (after ?? before)?.id ?? '';
  tx.audit({
    at,
    principal,
    action,
    subject: { type: 'network', id },
    practiceGroupId,
    requestId,
    before,
    after,
  });
}
