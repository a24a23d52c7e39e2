import { WEBHOOKS_MAX } from '../../src/contract/rules.ts';

/** What the service knows, as far as it decides who sees what. */
export interface Model {
  groups: Set<string>;
  networks: Map<string, Set<string>>;
  verified: Map<string, boolean>;
  keys: Map<string, ModelKey>;
  /** Titles by practice group and submission type. */
  titles: Map<string, Map<string, string>>;
  /** IDs of webhooks, by practice group and partner. */
  webhooks: Map<string, Set<string>>;
  /** IDs of the objects of events, by practice group. */
  events: Map<string, string[]>;
}

export interface ModelKey {
  id: string;
  partnerId: string;
  home: string;
  scopes: Set<string>;
  expiresAt: number;
  revoked: boolean;
  replaced: boolean;
}

export interface Call {
  key: string;
  group: string | undefined;
  scopes: string[];
  /** Undefined for a call that names no submission type. */
  typeId?: string | undefined;
}

const reaches = ({ groups, networks }: Model, home: string, group: string) =>
  groups.has(group) &&
  (group === home || [...networks.values()].some((members) => members.has(home) && members.has(group)));

/** The whole of the specification's access rules. */
export function expectedStatus(
  model: Model,
  { key: text, group, scopes, typeId }: Call,
  now: number,
): number {
  const key = model.keys.get(text);
  if (!key || key.revoked || key.expiresAt <= now || !model.verified.get(key.partnerId)) return 401;
  if (!scopes.every((scope) => key.scopes.has(scope))) return 403;
  if (group === undefined) return 400;
  if (!reaches(model, key.home, group)) return 403;
  if (typeId !== undefined && !model.titles.get(group)?.has(typeId)) return 404;
  return 200;
}

/** Every group whose data an answer with `include=network` may hold. */
export function reachable(model: Model, key: ModelKey): string[] {
  return [...model.groups].filter((group) => reaches(model, key.home, group));
}

/** The webhooks of the partner that calls, in the group that it acts for. */
export function webhooksOf({ keys, webhooks }: Model, { key, group }: Call): Set<string> | undefined {
  const partnerId = keys.get(key)?.partnerId;
  if (partnerId === undefined || group === undefined) return undefined;
  const owner = `${group} ${partnerId}`;
  const known = webhooks.get(owner) ?? new Set();
  webhooks.set(owner, known);
  return known;
}

/** The same for an operation, which may name a webhook or make one. */
export function expectedOf(
  model: Model,
  operation: string,
  call: Call,
  hookId: string | undefined,
  now: number,
): number {
  const status = expectedStatus(model, call, now);
  if (status !== 200) return status;
  const own = webhooksOf(model, call);
  if (operation === 'hookRead') return own?.has(hookId ?? '') ? 200 : 404;
  if (operation === 'hook') return own && own.size < WEBHOOKS_MAX ? 201 : 422;
  return 200;
}
