import {
  previewNetwork as endpoint,
  PREVIEW_GROUPS_MAX,
  PREVIEW_MAX,
  type ReachDifference,
} from '../../contract/operator/access/network-preview.ts';
import { Problem } from '../../contract/problems.ts';
import { naming, ruleBroken } from '../../contract/rules.ts';
import {
  type Differences,
  NetworkPreview,
  type NetworkShape,
  NO_NETWORK,
} from '../../domain/access/network-preview.ts';
import {
  type ConcernedWebhook,
  findReceivedOtherwise,
  listConcernedWebhooks,
  listOtherNetworks,
  listStoppedPairs,
  listWorkingKeys,
  type NamedKey,
  type PartnerGroup,
  readNames,
} from '../../store/access/network-preview.ts';
import { findNetwork } from '../../store/access/networks.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { findUnknownGroups } from '../../store/practices/practice-groups.ts';
import { nowIso, type OperatorCall, operation } from '../app.ts';
import { refuseUnknownPartners } from './networks.ts';

type Call = OperatorCall<typeof endpoint>;

export const previewNetwork = operation(endpoint, async (app, { principal, body }) => {
  return {
    body: await transact(app.db, principal, async (tx) => {
      const { before, after } = await shapesOf(tx, body);
      const others = await listOtherNetworks(tx, [...before.groupIds, ...after.groupIds], body.id);
      const preview = new NetworkPreview(before, after, others);
      preview.setStopped(await listStoppedPairs(tx, preview.groupIds));
      const at = nowIso(app);
      const keys = await listWorkingKeys(tx, preview.groupIds, at);
      const ofKeys = await keyDifferences(preview, keys);
      const ofWebhooks = await webhookDifferences(tx, preview, keys, body.id, at);
      return present(tx, ofKeys, ofWebhooks);
    }),
  };
});

async function shapesOf(tx: Transaction, body: Call['body']) {
  const { id, practice_group_ids: groupIds, scopes, partner_ids: partnerIds } = body;
  const network = id === undefined ? undefined : await findNetwork(tx, id);
  if (id !== undefined && !network) throw new Problem('not_found');
  const before: NetworkShape = network
    ? {
        groupIds: new Set(network.practice_group_ids),
        scopes: network.scopes,
        partnerIds: network.partner_ids,
      }
    : NO_NETWORK;
  const after: NetworkShape = {
    groupIds: groupIds === undefined ? before.groupIds : new Set(groupIds),
    scopes: scopes === undefined ? before.scopes : scopes,
    partnerIds: partnerIds === undefined ? before.partnerIds : partnerIds,
  };
  const unknown = await findUnknownGroups(tx, [...after.groupIds]);
  if (unknown.length > 0)
    throw ruleBroken('members_unknown', `There is no practice group ${naming(unknown)}.`);
  await refuseUnknownPartners(tx, { partner_ids: partnerIds ?? null });
  return { before, after };
}

interface Differs<T> {
  gains: ({ subject: T } & Differences)[];
  losses: ({ subject: T } & Differences)[];
}

/** Others have their turn in between: a network of a thousand practices may have ten thousand keys. */
const KEYS_AT_A_TIME = 100;

async function keyDifferences(
  preview: NetworkPreview,
  keys: readonly NamedKey[],
): Promise<Differs<NamedKey>> {
  const differs: Differs<NamedKey> = { gains: [], losses: [] };
  for (const [place, key] of keys.entries()) {
    if (place % KEYS_AT_A_TIME === 0) await new Promise((resolve) => setImmediate(resolve));
    const { gains, losses } = preview.differencesOf(key);
    if (gains.count > 0) differs.gains.push({ subject: key, ...gains });
    if (losses.count > 0) differs.losses.push({ subject: key, ...losses });
  }
  return differs;
}

/** A partner receives the events of a group if any key of its lets it: a webhook is concerned when all of them together do, or do not any more. */
async function webhookDifferences(
  tx: Transaction,
  preview: NetworkPreview,
  keys: readonly NamedKey[],
  networkId: string | undefined,
  at: string,
): Promise<Differs<ConcernedWebhook>> {
  const homes = Map.groupBy(
    keys.filter(({ scopes }) => scopes.includes('events:read')),
    ({ partnerId }) => partnerId,
  );
  const changed: (PartnerGroup & { isGain: boolean })[] = [];
  for (const [partnerId, own] of homes) {
    const homeIds = [...new Set(own.map(({ homeId }) => homeId))];
    for (const one of preview.receivedOf(partnerId, homeIds)) changed.push({ partnerId, ...one });
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (changed.length === 0) return { gains: [], losses: [] };
  const otherwise = await findReceivedOtherwise(tx, changed, networkId, at);
  const isOtherwise = new Set(otherwise.map(({ partnerId, groupId }) => `${partnerId}\n${groupId}`));
  const concerned = changed.filter(({ partnerId, groupId }) => !isOtherwise.has(`${partnerId}\n${groupId}`));
  const webhooks = await listConcernedWebhooks(
    tx,
    [...new Set(concerned.map(({ partnerId }) => partnerId))],
    [...new Set(concerned.map(({ groupId }) => groupId))],
  );
  const byPartner = Map.groupBy(concerned, ({ partnerId }) => partnerId);
  const of = (isGain: boolean) =>
    webhooks.flatMap((webhook) => {
      const groups = (byPartner.get(webhook.partnerId) ?? [])
        .filter((one) => one.isGain === isGain && wants(webhook, one.groupId))
        .map(({ groupId }) => ({ id: groupId, scopes: ['events:read' as const] }));
      const named = groups.slice(0, PREVIEW_GROUPS_MAX);
      return groups.length > 0 ? [{ subject: webhook, groups: named, count: groups.length }] : [];
    });
  return { gains: of(true), losses: of(false) };
}

function wants({ homeId, onlyGroupIds }: ConcernedWebhook, groupId: string): boolean {
  return homeId === null ? (onlyGroupIds?.includes(groupId) ?? true) : homeId === groupId;
}

async function present(tx: Transaction, keys: Differs<NamedKey>, webhooks: Differs<ConcernedWebhook>) {
  const shown = [keys.gains, keys.losses, webhooks.gains, webhooks.losses].flatMap((list) =>
    (list as Differs<NamedKey | ConcernedWebhook>['gains']).slice(0, PREVIEW_MAX),
  );
  const groupIds = shown.flatMap(({ subject, groups }) => [
    ...(subject.homeId === null ? [] : [subject.homeId]),
    ...groups.map(({ id }) => id),
  ]);
  const [partners, names] = await Promise.all([
    readNames(tx, 'partners', [...new Set(shown.map(({ subject }) => subject.partnerId))]),
    readNames(tx, 'practice_groups', [...new Set(groupIds)]),
  ]);
  const named = (ids: Map<string, string>, id: string) => ({ id, name: ids.get(id) ?? id });
  const list = <T extends NamedKey | ConcernedWebhook>(
    differs: Differs<T>['gains'],
    nameOf: (subject: T) => string,
  ): ReachDifference[] =>
    differs.slice(0, PREVIEW_MAX).map(({ subject, groups, count }) => ({
      id: subject.id,
      name: nameOf(subject),
      partner: named(partners, subject.partnerId),
      home: subject.homeId === null ? null : named(names, subject.homeId),
      practice_groups: groups.map(({ id, scopes }) => ({ ...named(names, id), scopes: [...scopes] })),
      practice_group_count: count,
    }));
  const both = (side: 'gains' | 'losses') => ({
    keys: list(keys[side], ({ name }) => name),
    key_count: keys[side].length,
    webhooks: list(webhooks[side], ({ url }) => URL.parse(url)?.host ?? ''),
    webhook_count: webhooks[side].length,
  });
  return { gains: both('gains'), losses: both('losses') };
}
