import { hash, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import type pg from 'pg';
import { expect } from 'vitest';
import { scopeNames } from '../../src/contract/access.ts';
import { events } from '../../src/contract/events.ts';
import type { PartnerStatus } from '../../src/contract/operator/access/partners.ts';
import { formatKey } from '../../src/domain/access/api-key.ts';
import { randomBase62 } from '../../src/domain/ids.ts';
import {
  difference,
  type Facts,
  type Key,
  type Observation,
  pairOf,
  RULE,
  type Stop,
  type Webhook,
} from './access-model.ts';
import { fanOutAll } from './post.ts';
import { enterPractice } from './practice-guest.ts';
import { type Harness, type Loose, OPERATOR_TOKEN, startHarness } from './service.ts';
import { superuser } from './superuser.ts';

/**
 * Random worlds in which things change and time passes. After each step the real door is asked for whom each key may act, and
 * an event of each type is published in every practice group and fanned out. Worlds share a database and nothing else.
 */

const GROUPS = 4;
const EVENT_TYPES = ['appointment.confirmed', 'appointment.cancelled'] as const;
/** Needs the scope that receiving takes as well. */
const DOOR = '/v1/events?page_size=1';
/** After so long no refusal of a world before counts towards the limit of calls without a key. */
const STRANGERS_FORGOTTEN_MS = 61_000;

const nth = fc.nat(11);
const group = fc.nat(GROUPS - 1);
/** Of networks. Most of the time what matters is in them. */
const caps = fc.record({
  scopes: fc.oneof(
    fc.constantFrom(null, null),
    fc.subarray(['events:read', 'submission-types:read'], { minLength: 1 }),
  ),
  partners: fc.constantFrom<(number[] | null)[]>(null, null, [0], [1], [0, 1]),
});
const eventTypes = fc.subarray([...EVENT_TYPES], { minLength: 1 });

export const WORLD = fc.record({
  partners: fc.array(
    fc.record({
      status: fc.constantFrom<PartnerStatus[]>(
        'verified',
        'verified',
        'verified',
        'suspended',
        'agreement_signed',
        'applied',
      ),
      signed: fc.boolean(),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  networks: fc.array(fc.record({ members: fc.uniqueArray(group, { minLength: 1, maxLength: 3 }), caps }), {
    maxLength: 3,
  }),
  keys: fc.array(
    fc.record({
      partner: nth,
      home: group,
      scopes: fc.oneof(fc.subarray([...scopeNames]), fc.constant([...scopeNames])),
      /** From the beginning of the world. */
      expiresInMs: fc.constantFrom(null, null, null, -1, 0, 1, 1_000, 60_000),
      revoked: fc.constantFrom(false, false, false, false, true),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  /** Besides one of each partner in each group for everything, and one for all groups. */
  webhooks: fc.array(
    fc.record({
      partner: nth,
      group: fc.option(group, { freq: 2 }),
      /** Of one for all groups. */
      only: fc.option(fc.uniqueArray(group, { minLength: 1, maxLength: 2 })),
      eventTypes,
      status: fc.constantFrom('active', 'paused', 'disabled'),
      deleted: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  /** Of partners by practices: in force, or lifted. */
  stops: fc.array(fc.record({ partner: nth, group, lifted: fc.constantFrom(false, false, true) }), {
    maxLength: 3,
  }),
  steps: fc.array(
    fc.oneof(
      {
        weight: 3,
        arbitrary: fc.record({
          toExpiryOf: nth,
          byMs: fc.constantFrom(-1, 0, 1),
        }),
      },
      { weight: 1, arbitrary: fc.record({ waitMs: fc.constantFrom(1, 999, 1_000, 3_600_000) }) },
      { weight: 1, arbitrary: fc.record({ revoke: nth }) },
      {
        weight: 2,
        arbitrary: fc.record({ rotate: nth, overlapSeconds: fc.constantFrom(0, 1, 1, 60) }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ partner: nth, takes: fc.constantFrom('sign-agreement', 'verify', 'suspend') }),
      },
      { weight: 2, arbitrary: fc.record({ network: nth, joins: group }) },
      { weight: 1, arbitrary: fc.record({ network: nth, leaves: group }) },
      { weight: 1, arbitrary: fc.record({ dissolve: nth }) },
      { weight: 2, arbitrary: fc.record({ network: nth, caps }) },
      { weight: 2, arbitrary: fc.record({ stops: group, partner: nth }) },
      { weight: 1, arbitrary: fc.record({ lifts: nth }) },
    ),
    { maxLength: 5 },
  ),
});

type Drawn = typeof WORLD extends fc.Arbitrary<infer T> ? T : never;
type Step = Drawn['steps'][number];

/** Where worlds are lived through: what is changed on one node is asked at the door of another. */
export interface Stage {
  node: Harness;
  door: Harness;
  admin: pg.Client;
}

export async function openStage(): Promise<Stage> {
  // No worker: events are fanned out when the test says so.
  const env = { PORTER_ROLE: 'api' };
  const node = await startHarness({ env });
  const door = await startHarness({ databaseUrl: node.databaseUrl, clock: node.clock, env });
  return { node, door, admin: await superuser(node.databaseUrl) };
}

/** Fails on the first difference, and returns all that was seen. */
export async function agreeInWorlds(count: number, seed: number): Promise<Observation[]> {
  const stage = await openStage();
  const all: Observation[] = [];
  const property = fc.asyncProperty(WORLD, async (drawn) => {
    const seen = await liveThrough(stage, drawn);
    for (const one of seen) expect(difference(one, RULE)).toBeUndefined();
    all.push(...seen);
  });
  await fc.assert(property, { seed, numRuns: count, endOnFailure: true });
  return all;
}

/** What was seen at the beginning and after each step. */
export async function liveThrough(stage: Stage, drawn: Drawn): Promise<Observation[]> {
  stage.node.clock.advance(STRANGERS_FORGOTTEN_MS);
  const world = new World(stage, drawn);
  await world.furnish();
  const seen = [await world.observe()];
  for (const step of drawn.steps) {
    await world.take(step);
    seen.push(await world.observe());
  }
  return seen;
}

let worlds = 0;

class World {
  readonly #stage: Stage;
  readonly #drawn: Drawn;
  readonly #name = `world-${++worlds}`;
  readonly #groups = Array.from({ length: GROUPS }, (_, n) => `${this.#name}-group-${n}`);
  readonly #partners: string[];
  readonly #networks: string[];
  /** The keys themselves, by their IDs. */
  readonly #secrets = new Map<string, string>();

  constructor(stage: Stage, drawn: Drawn) {
    this.#stage = stage;
    this.#drawn = drawn;
    this.#partners = drawn.partners.map((_, n) => `${this.#name}-partner-${n}`);
    this.#networks = drawn.networks.map((_, n) => `${this.#name}-network-${n}`);
  }

  get #clock() {
    return this.#stage.node.clock;
  }

  /** As rows, because not every world can be reached through the operator API: a key is issued to a verified partner alone. */
  async furnish(): Promise<void> {
    const start = this.#clock.now();
    const insert = (table: string, rows: Record<string, unknown>[]) => {
      const columns = Object.keys(rows[0] ?? {}).join(', ');
      if (rows.length === 0) return [];
      const sql = `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::${table}, $1) RETURNING *`;
      return this.#rows<{ no: number }>(sql, [JSON.stringify(rows)]);
    };
    const at = new Date(start).toISOString();
    const made = { created_at: at, updated_at: at };
    const { partners, networks, keys, webhooks, stops } = this.#drawn;
    await insert(
      'practice_groups',
      this.#groups.map((id) => ({ id, name: id, timezone: 'Europe/London', opening_hours: {}, ...made })),
    );
    await insert(
      'partners',
      partners.map(({ status, signed }, n) => ({
        id: this.#partners[n],
        name: 'Partner',
        contact_email: 'dev@partner.example',
        status,
        agreement_signed_at: status === 'verified' || (signed && status !== 'applied') ? at : null,
        ...made,
      })),
    );
    await insert(
      'networks',
      networks.map(({ caps }, n) => ({
        id: this.#networks[n],
        name: 'Network',
        ...this.#caps(caps),
        ...made,
      })),
    );
    await insert(
      'network_members',
      networks.flatMap(({ members }, n) =>
        members.map((member) => ({
          network_id: this.#networks[n],
          practice_group_id: this.#groups[member],
        })),
      ),
    );
    await insert(
      'api_keys',
      keys.map(({ partner, home, scopes, expiresInMs, revoked }, n) => {
        const id = `${this.#name}-key-${n}`;
        const secret = formatKey('staging', randomBase62(randomBytes, 32));
        this.#secrets.set(id, secret);
        return {
          id,
          partner_id: pick(this.#partners, partner),
          practice_group_id: this.#groups[home],
          key_hash: `\\x${hash('sha256', secret)}`,
          prefix: secret.slice(0, 9),
          last_four: secret.slice(-4),
          scopes,
          rate_limit_per_minute: 100_000,
          expires_at: expiresInMs === null ? null : new Date(start + expiresInMs).toISOString(),
          revoked_at: revoked ? at : null,
          created_at: at,
        };
      }),
    );
    await insert(
      'stops',
      this.#distinct(stops).map(({ partner, group, lifted }, n) => ({
        id: `${this.#name}-stop-${n}`,
        practice_group_id: this.#groups[group],
        partner_id: pick(this.#partners, partner),
        reason: 'Reason',
        stopped_at: at,
        stopped_by: 'inv',
        stopped_by_name: 'Ada',
        ...(lifted && { lifted_at: at, lifted_by: 'inv', lifted_by_name: 'Ada' }),
      })),
    );
    const everywhere = this.#partners.flatMap((_, partner) =>
      [null, ...this.#groups.keys()].map((group) => ({
        partner,
        group,
        only: null,
        eventTypes: [...EVENT_TYPES],
        status: 'active',
        deleted: false,
      })),
    );
    const hooks = [...everywhere, ...webhooks].map((hook, n) => ({
      id: `${this.#name}-webhook-${n}`,
      partner_id: pick(this.#partners, hook.partner),
      practice_group_id: hook.group === null ? null : this.#groups[hook.group],
      audience: hook.group === null ? 'partner' : 'practice_group',
      only_group_ids: hook.group === null && hook.only ? hook.only.map((n) => this.#groups[n]) : null,
      url: 'https://partner.example/hook',
      event_types: hook.eventTypes,
      status: hook.status,
      version: 1,
      deleted_at: hook.deleted ? at : null,
      ...made,
    }));
    const inserted = await insert('webhooks', hooks);
    await this.#rows('INSERT INTO webhook_lanes (webhook_no) SELECT unnest($1::integer[])', [
      inserted.map(({ no }) => no),
    ]);
  }

  /** One at a time is in force. */
  #distinct(stops: Drawn['stops']): Drawn['stops'] {
    const named = stops.map((one) => [`${pick(this.#partners, one.partner)} ${one.group}`, one] as const);
    return [...new Map(named).values()];
  }

  /** A step that is refused, as to verify one who is verified, changes nothing. */
  async take(step: Step): Promise<void> {
    if ('waitMs' in step) return this.#clock.advance(step.waitMs);
    if ('toExpiryOf' in step) return this.#waitForExpiry(step);
    if ('revoke' in step) await this.#operator('POST', `/keys/${this.#keyId(step.revoke)}/revoke`);
    if ('rotate' in step) {
      const { body } = await this.#operator('POST', `/keys/${this.#keyId(step.rotate)}/rotate`, {
        overlap_seconds: step.overlapSeconds,
      });
      if (body.key) this.#secrets.set(body.id, body.key);
    }
    if ('takes' in step)
      await this.#operator('POST', `/partners/${pick(this.#partners, step.partner)}/${step.takes}`);
    if ('stops' in step)
      await this.#stop(this.#groups[step.stops] as string, pick(this.#partners, step.partner));
    if ('lifts' in step) {
      const ids = (await this.#operator('GET', '/stops?in_force=true&page_size=100')).body.data.flatMap(
        ({ id, practice_group }: Loose) => (this.#groups.includes(practice_group.id) ? id : []),
      );
      if (ids.length > 0)
        await this.#operator('POST', `/stops/${pick(ids, step.lifts)}/lift`, { reason: 'Reason' });
    }
    if (this.#networks.length === 0) return;
    if ('joins' in step) await this.#operator('PUT', this.#member(step.network, step.joins));
    if ('leaves' in step) await this.#operator('DELETE', this.#member(step.network, step.leaves));
    if ('caps' in step)
      await this.#operator('PATCH', `/networks/${pick(this.#networks, step.network)}`, this.#caps(step.caps));
    if ('dissolve' in step)
      await this.#operator('DELETE', `/networks/${pick(this.#networks, step.dissolve)}`);
  }

  /** Of a partner that it has nothing to do with, a practice stops none. */
  async #stop(groupId: string, partnerId: string): Promise<void> {
    const manager = await enterPractice(this.#stage.node, groupId);
    const body = { reason: 'Reason' };
    const answer = await manager.send('PUT', `/practice/v1/partners/${partnerId}/stop`, { body });
    if (![200, 404].includes(answer.status)) throw new Error(`${answer.status} ${answer.text}`);
  }

  #caps({ scopes, partners }: Drawn['networks'][number]['caps']) {
    const partner_ids = partners && [...new Set(partners.map((n) => pick(this.#partners, n)))].sort();
    return { scopes, partner_ids };
  }

  async #waitForExpiry({ toExpiryOf, byMs }: { toExpiryOf: number; byMs: number }): Promise<void> {
    const now = this.#clock.now();
    const ahead = (await this.#facts()).keys
      .map(({ expiresAt }) => (expiresAt ?? 0) + byMs - now)
      .filter((ms) => ms > 0);
    if (ahead.length > 0) this.#clock.advance(pick(ahead, toExpiryOf));
  }

  #keyId(n: number): string {
    return pick([...this.#secrets.keys()], n);
  }

  #member(network: number, group: number): string {
    return `/networks/${pick(this.#networks, network)}/members/${this.#groups[group]}`;
  }

  async #operator(method: string, path: string, body?: unknown) {
    const answer = await this.#stage.node.send(method, `/operator/v1${path}`, {
      token: OPERATOR_TOKEN,
      body,
    });
    if (![200, 201, 204, 404, 409, 422].includes(answer.status))
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  async observe(): Promise<Observation> {
    const answers = await this.#askDoor();
    const received = await this.#publish();
    return { facts: await this.#facts(), eventTypes: EVENT_TYPES, answers, received };
  }

  async #askDoor(): Promise<Map<string, string>> {
    const answers = new Map<string, string>();
    const questions = [...this.#secrets].flatMap(([id, key]) =>
      this.#groups.map(async (group) => {
        const { status, text, body } = await this.#stage.door.send('GET', DOOR, { key, group });
        if (![200, 401, 403].includes(status)) throw new Error(`the door answered ${status} ${text}`);
        answers.set(pairOf(id, group), status === 200 ? 'admitted' : body.error);
      }),
    );
    await Promise.all(questions);
    return answers;
  }

  async #publish(): Promise<Set<string>> {
    const { node } = this.#stage;
    const payloads = this.#groups.flatMap((practice_group_id) =>
      EVENT_TYPES.map((event) => ({ object: events[event].object, id: 'a-1', practice_group_id, event })),
    );
    const { event_ids } = await node.operator('POST', '/events', { events: payloads });
    await fanOutAll(node);
    const queued = await this.#rows<{ no: number; group: string; event: string }>(
      `SELECT d.webhook_no AS no, e.practice_group_id AS group, e.event FROM events e JOIN deliveries d ON d.event_no = e.no WHERE e.id = ANY ($1)`,
      [event_ids],
    );
    return new Set(queued.map(({ no, group, event }) => pairOf(pairOf(no, group), event)));
  }

  async #facts(): Promise<Facts> {
    const networks = await this.#rows<Omit<Facts['networks'][number], 'members'> & { members: string[] }>(
      `SELECT array_agg(practice_group_id) AS members, n.scopes, n.partner_ids AS "partnerIds"
         FROM network_members m JOIN networks n ON n.id = m.network_id WHERE n.id = ANY ($1) GROUP BY n.id`,
      [this.#networks],
    );
    return {
      now: this.#clock.now(),
      groups: this.#groups,
      partners: await this.#rows<Facts['partners'][number]>(
        'SELECT id, status FROM partners WHERE id = ANY ($1)',
        [this.#partners],
      ),
      networks: networks.map((network) => ({ ...network, members: new Set(network.members) })),
      keys: await this.#rows<Key>(
        `SELECT id, partner_id AS "partnerId", practice_group_id AS "homeGroupId", scopes,
                (extract(epoch FROM expires_at) * 1000)::float8 AS "expiresAt", revoked_at IS NOT NULL AS revoked
           FROM api_keys WHERE partner_id = ANY ($1)`,
        [this.#partners],
      ),
      webhooks: await this.#rows<Webhook>(
        `SELECT no, partner_id AS "partnerId", practice_group_id AS "groupId", only_group_ids AS "onlyGroups", event_types AS "eventTypes",
                deleted_at IS NOT NULL AS deleted
           FROM webhooks WHERE partner_id = ANY ($1)`,
        [this.#partners],
      ),
      stops: await this.#rows<Stop>(
        `SELECT practice_group_id AS "groupId", partner_id AS "partnerId" FROM stops WHERE partner_id = ANY ($1) AND lifted_at IS NULL`,
        [this.#partners],
      ),
    };
  }

  async #rows<T extends object>(sql: string, values: unknown[]): Promise<T[]> {
    return (await this.#stage.admin.query(sql, values)).rows;
  }
}

function pick<T>(from: readonly T[], n: number): T {
  return from[n % from.length] as T;
}
