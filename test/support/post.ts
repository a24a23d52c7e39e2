import type { EventName } from '../../src/contract/events.ts';
import { events } from '../../src/contract/events.ts';
import { fanOut } from '../../src/store/events/deliveries.ts';
import { type Answer, type Harness, type Loose, makeKey, makeWorld, startHarness } from './service.ts';

/** Webhooks and events for tests that look at them. No worker runs: what is queued stays until the test moves it. */

export const HOOK = 'https://partner.example/hook';

export function startPost(env: Record<string, string> = {}): Promise<Harness> {
  return startHarness({ env: { PORTER_ROLE: 'api', ...env } });
}

/** A partner in a practice group: calls with its key, which has a high limit. */
export interface Partner {
  groupId: string;
  partnerId: string;
  key: string;
  keyId: string;
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** Fails the test unless the status is a success. */
  call(method: string, path: string, body?: unknown): Promise<Loose>;
}

export async function newPartner(house: Harness, groupId?: string): Promise<Partner> {
  const group = groupId ?? (await makeWorld(house)).groupId;
  const made = await makeKey(house, group, { rate_limit_per_minute: 100_000 });
  return partnerWith(house, group, made);
}

export function partnerWith(
  house: Harness,
  groupId: string,
  made: { partnerId: string; key: string; keyId: string },
): Partner {
  const send: Partner['send'] = (method, path, body, headers = {}) =>
    house.send(method, path, { key: made.key, group: groupId, body, headers });
  return {
    ...made,
    groupId,
    send,
    async call(method, path, body) {
      const answer = await send(method, path, body);
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
  };
}

let objects = 0;

/** Publishes events and returns their IDs; each is about an object of its own unless told otherwise. */
export async function publish(
  house: Harness,
  groupId: string,
  ...names: (EventName | [EventName, string])[]
): Promise<string[]> {
  const payloads = names.map((name) => {
    const [event, id] = typeof name === 'string' ? [name, `object-${++objects}`] : name;
    const { object, fields } = events[event];
    const resource = fields === 'resource' ? { resource: 'Letter', resource_id: 'l-1' } : {};
    return { object, id, practice_group_id: groupId, event, ...resource };
  });
  return (await house.operator('POST', '/events', { events: payloads })).event_ids;
}

/** Gives every accepted event its place in the feed and in the queues. */
export async function fanOutAll(house: Harness): Promise<void> {
  const at = new Date(house.clock.now()).toISOString();
  while ((await fanOut(house.service.app.db, at, 0, 1_000)).taken !== 0);
}
