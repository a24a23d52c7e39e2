import { isDeepStrictEqual } from 'node:util';
import type { AuditAction } from '../../contract/audit-actions.ts';
import {
  addNetworkMember as addEndpoint,
  createNetwork as createEndpoint,
  deleteNetwork as deleteEndpoint,
  getNetwork as getEndpoint,
  listNetworks as listEndpoint,
  type Network,
  removeNetworkMember as removeEndpoint,
  updateNetwork as updateEndpoint,
} from '../../contract/operator/access/networks.ts';
import { Problem } from '../../contract/problems.ts';
import { MEMBERS_MAX, naming, ruleBroken } from '../../contract/rules.ts';
import { newId } from '../../domain/ids.ts';
import {
  deleteMember,
  deleteNetworkRow,
  findNetwork,
  insertMembers,
  insertNetwork,
  listNetworkPage,
  lockNetwork,
  touchNetwork,
  updateNetworkRow,
} from '../../store/access/networks.ts';
import { findUnknownPartners } from '../../store/access/partners.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { findGroup } from '../../store/practices/practice-groups.ts';
import { type Actor, nowIso, operation } from '../app.ts';

/**
 * A network is a permission. One that is given works at once (the door remembers no refusals); one that is taken away
 * is waited out before the answer, so that it no longer works anywhere when the operator hears that it is gone.
 */

export const createNetwork = operation(createEndpoint, async (app, call) => {
  const now = nowIso(app);
  const network: Network = {
    id: newId('net', app.clock.now(), app.random),
    name: call.body.name,
    practice_group_ids: inOrder(call.body.practice_group_ids),
    scopes: call.body.scopes ? inOrder(call.body.scopes) : null,
    partner_ids: call.body.partner_ids ? inOrder(call.body.partner_ids) : null,
    created_at: now,
    updated_at: now,
  };
  await transact(app.db, call.principal, async (tx) => {
    await refuseUnknownPartners(tx, network);
    insertNetwork(tx, network);
    const known = new Set(await insertMembers(tx, network, network.practice_group_ids, now));
    const unknown = network.practice_group_ids.filter((id) => !known.has(id));
    if (unknown.length > 0)
      throw ruleBroken('members_unknown', `There is no practice group ${naming(unknown)}.`);
    audit(tx, call, now, 'network.create', null, network);
  });
  app.access.forget();
  return { body: network };
});

export const listNetworks = operation(listEndpoint, async (app, call) => {
  return { body: await transact(app.db, call.principal, (tx) => listNetworkPage(tx, call.query)) };
});

export const getNetwork = operation(getEndpoint, async (app, call) => {
  const body = await transact(app.db, call.principal, (tx) => findNetwork(tx, call.params.id));
  if (!body) throw new Problem('not_found');
  return { body };
});

export const updateNetwork = operation(updateEndpoint, async (app, call) => {
  const { name, scopes, partner_ids } = call.body;
  const network = await transact(app.db, call.principal, async (tx) => {
    const before = await lockNetwork(tx, call.params.id);
    if (!before) throw new Problem('not_found');
    const changed: Network = {
      ...before,
      name: name ?? before.name,
      scopes: scopes ? inOrder(scopes) : scopes === null ? null : before.scopes,
      partner_ids: partner_ids ? inOrder(partner_ids) : partner_ids === null ? null : before.partner_ids,
    };
    if (isDeepStrictEqual(changed, before)) return before;
    if (partner_ids) await refuseUnknownPartners(tx, changed);
    const after = { ...changed, updated_at: nowIso(app) };
    updateNetworkRow(tx, after);
    audit(tx, call, after.updated_at, 'network.update', before, after);
    return after;
  });
  // Also when nothing has changed: whoever says it again may not have heard the answer.
  if (scopes || partner_ids) await app.access.settle();
  else app.access.forget();
  return { body: network };
});

function inOrder<T extends string>(names: readonly T[]): T[] {
  return [...new Set(names)].sort();
}

export async function refuseUnknownPartners(
  tx: Transaction,
  { partner_ids }: Pick<Network, 'partner_ids'>,
): Promise<void> {
  const unknown = await findUnknownPartners(tx, partner_ids ?? []);
  if (unknown.length > 0) throw ruleBroken('partners_unknown', `There is no partner ${naming(unknown)}.`);
}

export const deleteNetwork = operation(deleteEndpoint, async (app, call) => {
  const deleted = transact(app.db, call.principal, async (tx) => {
    const before = await lockNetwork(tx, call.params.id);
    if (!before) throw new Problem('not_found');
    const now = nowIso(app);
    deleteNetworkRow(tx, before.id, now);
    audit(tx, call, now, 'network.delete', before, null);
  });
  // Also when it is not there: it may have gone by a call whose answer nobody heard.
  await deleted.finally(() => app.access.settle());
  return { body: undefined };
});

export const addNetworkMember = operation(addEndpoint, async (app, call) => {
  const { id, practice_group_id: groupId } = call.params;
  await transact(app.db, call.principal, async (tx) => {
    const before = await lockNetwork(tx, id);
    if (!before || !(await findGroup(tx, groupId))) throw new Problem('not_found');
    if (before.practice_group_ids.includes(groupId)) return;
    if (before.practice_group_ids.length >= MEMBERS_MAX) throw ruleBroken('network_full');
    const now = nowIso(app);
    await insertMembers(tx, before, [groupId], now);
    changeMembers(tx, call, now, before, [...before.practice_group_ids, groupId].sort(), groupId);
  });
  app.access.forget();
  return { body: undefined };
});

export const removeNetworkMember = operation(removeEndpoint, async (app, call) => {
  const { id, practice_group_id: groupId } = call.params;
  const removed = transact(app.db, call.principal, async (tx) => {
    const before = await lockNetwork(tx, id);
    const now = nowIso(app);
    if (!before || !(await deleteMember(tx, id, groupId, now))) throw new Problem('not_found');
    const left = before.practice_group_ids.filter((other) => other !== groupId);
    changeMembers(tx, call, now, before, left, groupId);
  });
  await removed.finally(() => app.access.settle());
  return { body: undefined };
});

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
  action: AuditAction,
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
