import fc from 'fast-check';
import { expect } from 'vitest';
import { scopeNames } from '../../src/contract/access.ts';
import { formatKey } from '../../src/domain/access/api-key.ts';
import {
  type Call,
  expectedOf,
  expectedStatus,
  type Model,
  type ModelKey,
  reachable,
  webhooksOf,
} from './isolation-model.ts';
import { type Asked, type Change, requestOf, type Step, scopesOf, step } from './isolation-steps.ts';
import { fanOutAll } from './post.ts';
import type { Answer, Harness } from './service.ts';

/**
 * Random calls and random changes of who may do what, on two nodes that share a database, against a model that says
 * what every answer must be. Everything that a group owns carries a word that nobody else's data has.
 */

const GROUPS = 5;
const PARTNERS = 3;
const SHARED_TYPE = 'type-shared';

const groupMark = (group: string) => `mark-${group}-eod`;
const networkMark = (network: number) => `netmark-${network}-eod`;
const MARKS = /mark-group-\d+-eod/g;

interface Resolved {
  operation: Asked['operation'];
  call: Call;
  hookId?: string | undefined;
  house: Harness;
}

const isWrite = (operation: Asked['operation']) => operation === 'patch' || operation === 'hook';

export class Isolation {
  readonly #nodes: Harness[];
  readonly #model: Model = {
    groups: new Set(),
    networks: new Map(),
    verified: new Map(),
    keys: new Map(),
    titles: new Map(),
    webhooks: new Map(),
    events: new Map(),
  };
  readonly #networkNumbers = new Map<string, number>();
  /** Refusals that must look alike, by node and kind. */
  readonly #refusals = new Map<string, string>();
  readonly seen: Record<number, number> = {};
  #steps = 0;
  #networksMade = 0;

  constructor(nodes: Harness[]) {
    this.#nodes = nodes;
  }

  async run(steps: number, seed: number): Promise<void> {
    await this.#furnish();
    for (const one of fc.sample(step, { numRuns: steps, seed })) {
      this.#steps++;
      // Mostly within the second for which a node remembers. Now and then a minute, so that strangers, of whom there
      // are many here, stay below their limit.
      this.#clock.advance(this.#steps % 40 === 0 ? 61_000 : (this.#steps % 4) * 100);
      if ('calls' in one) await this.#callAll(one.calls);
      else await this.#changeUnderEyes(one);
    }
  }

  get #clock() {
    return (this.#nodes[0] as Harness).clock;
  }

  #operator(method: string, path: string, body?: unknown) {
    return (this.#nodes[this.#steps % this.#nodes.length] as Harness).operator(method, path, body);
  }

  async #furnish(): Promise<void> {
    for (let n = 1; n <= GROUPS; n++) {
      const id = `group-${n}`;
      const mark = groupMark(id);
      await this.#operator('POST', '/practice-groups', {
        id,
        name: `Practice ${mark}`,
        ods_code: mark,
        address: { line_1: mark },
      });
      await this.#operator('PUT', `/practice-groups/${id}/forms/form`, { title: mark });
      this.#model.groups.add(id);
      this.#model.titles.set(id, new Map());
      await this.#addType(id, SHARED_TYPE);
    }
    for (let n = 1; n <= PARTNERS; n++) {
      const { id } = await this.#operator('POST', '/partners', {
        name: 'secret-mark',
        contact_email: 'a@b.example',
      });
      await this.#operator('POST', `/partners/${id}/sign-agreement`);
      await this.#operator('POST', `/partners/${id}/verify`);
      this.#model.verified.set(id, true);
    }
    for (let n = 0; n < 4; n++) await this.#issue(n, n, [...scopeNames], 0);
  }

  async #addType(group: string, id: string): Promise<void> {
    const title = `${groupMark(group)} first`;
    const path = `/practice-groups/${group}/submission-types`;
    await this.#operator('POST', path, { id, pathway_id: groupMark(group), title });
    this.#model.titles.get(group)?.set(id, title);
  }

  // ---- Calls ----

  async #callAll(calls: readonly Asked[]): Promise<void> {
    const taken = new Set<string>();
    const distinct = calls
      .map((one) => this.#resolve(one))
      .filter(({ call, operation }) => {
        // Of two patches of one row at once either may come last; the model knows one order only.
        const row = `${operation} ${call.group} ${call.typeId}`;
        if (isWrite(operation) && taken.has(row)) return false;
        if (isWrite(operation)) taken.add(row);
        return true;
      });
    const written = distinct.some(({ operation }) => isWrite(operation));
    // Reads among patches may see the row before or after: they are asked when the patches are done.
    const [first, then] = written
      ? [
          distinct.filter(({ operation }) => isWrite(operation)),
          distinct.filter(({ operation }) => !isWrite(operation)),
        ]
      : [distinct, []];
    await Promise.all(first.map((one) => this.#call(one)));
    await Promise.all(then.map((one) => this.#call(one)));
  }

  #resolve({ operation, key, group, type, node }: Asked): Resolved {
    // Dead keys pile up; most calls are made with one that lives.
    const living = this.#living();
    const everyKey = [...this.#model.keys.keys(), formatKey('staging', '0'.repeat(32))];
    const keys = key % 8 === 0 || living.length === 0 ? everyKey : living;
    const groups = [...this.#model.groups, ...this.#model.groups, 'group-none', undefined];
    const types = [
      SHARED_TYPE,
      SHARED_TYPE,
      ...[...this.#model.groups].map((id) => `only-${id}`),
      'type-none',
    ];
    const call: Call = {
      key: keys[key % keys.length] as string,
      group: groups[group % groups.length],
      scopes: scopesOf(operation),
      typeId: operation === 'read' || operation === 'patch' ? types[type % types.length] : undefined,
    };
    // Mostly of somebody else.
    const hooks = [...this.#model.webhooks.values()].flatMap((ids) => [...ids]);
    const hookId =
      operation === 'hookRead' ? (hooks[type % Math.max(hooks.length, 1)] ?? 'wh_none') : undefined;
    return { operation, call, hookId, house: this.#nodes[node % this.#nodes.length] as Harness };
  }

  async #call({ operation, call, hookId, house }: Resolved): Promise<void> {
    const expected = expectedOf(this.#model, operation, call, hookId, this.#clock.now());
    const title = `${groupMark(call.group ?? 'none')} step ${this.#steps} ${call.typeId}`;
    const { method, path, body } = requestOf(operation, call.typeId, hookId, title);
    const answer = await house.send(method, path, {
      key: call.key,
      group: call.group,
      headers: { 'x-request-id': 'the-same' },
      body,
    });
    const about = `step ${this.#steps}: ${operation} ${JSON.stringify(call)}: ${answer.text}`;
    expect(answer.status, about).toBe(expected);
    this.seen[expected] = (this.seen[expected] ?? 0) + 1;
    if (expected === 200 && operation === 'patch')
      this.#model.titles.get(call.group as string)?.set(call.typeId as string, title);
    if (expected === 201) webhooksOf(this.#model, call)?.add(answer.body.id);
    this.#checkBytes(operation, call, answer, about);
    if (expected === 201) return;
    if (expected === 200) this.#checkData(operation, call, answer, about);
    else this.#checkRefusal(house, answer, about);
  }

  /** No word of a group, network or partner that this call may not see. */
  #checkBytes(operation: string, call: Call, answer: Answer, about: string): void {
    const key = this.#model.keys.get(call.key);
    const mine =
      answer.status >= 300 || !key
        ? []
        : operation === 'network'
          ? reachable(this.#model, key)
          : [call.group as string];
    const everything = answer.text + JSON.stringify(answer.headers);
    const allowed = new Set(mine.map(groupMark));
    for (const [word] of everything.matchAll(MARKS))
      expect(allowed.has(word), `${word} in ${about}`).toBe(true);
    const theirNetworks = [...this.#model.networks].filter(
      ([, members]) => !mine.some((id) => members.has(id)),
    );
    for (const [id] of theirNetworks)
      expect(everything, about).not.toContain(networkMark(this.#networkNumbers.get(id) ?? 0));
    expect(everything, about).not.toContain('secret-mark');
  }

  #checkData(operation: Asked['operation'], call: Call, answer: Answer, about: string): void {
    const group = call.group as string;
    const titles = this.#model.titles.get(group) as Map<string, string>;
    if (operation === 'read' || operation === 'patch') {
      expect([answer.body.id, answer.body.title], about).toEqual([
        call.typeId,
        titles.get(call.typeId as string),
      ]);
    } else if (operation === 'list') {
      const listed = answer.body.data.map((type: { id: string; title: string }) => [type.id, type.title]);
      expect(new Map(listed), about).toEqual(titles);
    } else if (operation === 'hooks') {
      const ids = answer.body.data.map(({ id }: { id: string }) => id);
      expect(new Set(ids), about).toEqual(webhooksOf(this.#model, call));
    } else if (operation === 'feed') {
      const ids = answer.body.data.map(({ data }: { data: { id: string } }) => data.id);
      expect(ids, about).toEqual(this.#model.events.get(group) ?? []);
    } else if (operation !== 'hookRead') {
      const ids = answer.body.data.map(({ id }: { id: string }) => id);
      const key = this.#model.keys.get(call.key);
      expect(ids[0], about).toBe(group);
      const expected = operation === 'network' && key ? reachable(this.#model, key) : [group];
      expect(ids.toSorted(), about).toEqual(expected.toSorted());
    }
  }

  /** Whoever is refused cannot tell why: a group that is not there from one out of reach, a record from none. */
  #checkRefusal(house: Harness, answer: Answer, about: string): void {
    const kind = `${house.url} ${answer.status} ${answer.body.error} ${answer.body.required_scopes}`;
    const before = this.#refusals.get(kind);
    if (before !== undefined && answer.status !== 400) expect(answer.text, about).toBe(before);
    this.#refusals.set(kind, answer.text);
  }

  // ---- Changes ----

  /** Calls that every node has just answered and may remember are made again right after the change. */
  async #changeUnderEyes(step: Extract<Step, { change: Change }>): Promise<void> {
    const allowed = this.#living().flatMap((key) =>
      [...this.#model.groups].map((group): Call => ({ key, group, scopes: ['practice-groups:read'] })),
    );
    const now = this.#clock.now();
    const watched = allowed
      .filter((call) => expectedStatus(this.#model, call, now) === 200)
      .filter((call) => call.group !== this.#model.keys.get(call.key)?.home || step.a % 4 === 0);
    const some = [...watched, ...watched].slice(step.b % Math.max(watched.length, 1)).slice(0, 6);
    const look = async () => {
      for (const call of some)
        for (const house of this.#nodes) await this.#call({ operation: 'groups', call, house });
    };
    await look();
    await this.#change(step.change, step);
    await look();
  }

  #living(): string[] {
    const now = this.#clock.now();
    return [...this.#model.keys]
      .filter(([, key]) => !key.revoked && key.expiresAt > now && this.#model.verified.get(key.partnerId))
      .map(([text]) => text);
  }

  /** The last millisecond of a key, and the one after it. */
  async #outlive(text: string, key: ModelKey): Promise<void> {
    const call: Call = { key: text, group: key.home, scopes: ['practice-groups:read'] };
    for (const early of [1, 0]) {
      this.#clock.advance(key.expiresAt - early - this.#clock.now());
      for (const house of this.#nodes) await this.#call({ operation: 'groups', call, house });
    }
  }

  async #change(change: Change, { a, b, scopes, seconds }: Extract<Step, { change: Change }>): Promise<void> {
    const { groups, networks, verified, keys } = this.#model;
    const nth = <T>(values: Iterable<T>, n: number): T | undefined => {
      const list = [...values];
      return list[n % Math.max(list.length, 1)];
    };
    const group = nth(groups, a) as string;
    const partner = nth(verified.keys(), a) as string;
    const network = nth(networks.keys(), b);
    const key = nth(keys.values(), a);
    switch (change) {
      case 'network': {
        const members = [group, nth(groups, b) as string];
        const name = networkMark(++this.#networksMade);
        const made = await this.#operator('POST', '/networks', { name, practice_group_ids: members });
        networks.set(made.id, new Set(members));
        this.#networkNumbers.set(made.id, this.#networksMade);
        return;
      }
      case 'join':
        if (!network) return;
        await this.#operator('PUT', `/networks/${network}/members/${group}`);
        networks.get(network)?.add(group);
        return;
      case 'leave': {
        const member = network && nth(networks.get(network) ?? [], a);
        if (!network || !member) return;
        await this.#operator('DELETE', `/networks/${network}/members/${member}`);
        networks.get(network)?.delete(member);
        return;
      }
      case 'dissolve':
        if (!network || networks.size < 2) return;
        await this.#operator('DELETE', `/networks/${network}`);
        networks.delete(network);
        return;
      case 'issue':
        return this.#issue(a, b, scopes, seconds);
      case 'revoke':
        // Not the last ones: with nothing but dead keys every answer would be 401.
        if (!key || [...keys.values()].filter(({ revoked }) => !revoked).length < 4) return;
        await this.#operator('POST', `/keys/${key.id}/revoke`);
        key.revoked = true;
        return;
      case 'rotate':
        return key && this.#rotate(key, seconds);
      case 'suspend':
        if (!verified.get(partner)) return;
        await this.#operator('POST', `/partners/${partner}/suspend`);
        verified.set(partner, false);
        return;
      case 'verify':
        if (verified.get(partner)) return;
        await this.#operator('POST', `/partners/${partner}/verify`);
        verified.set(partner, true);
        return;
      case 'wait': {
        const text = this.#living().find((one) => keys.get(one)?.expiresAt !== Number.POSITIVE_INFINITY);
        if (text !== undefined) return this.#outlive(text, keys.get(text) as ModelKey);
        this.#clock.advance(seconds * 1000);
        return;
      }
      case 'publish': {
        const id = `${groupMark(group)} ${this.#steps}`;
        const event = 'appointment.confirmed';
        await this.#operator('POST', '/events', {
          object: 'Appointment',
          id,
          practice_group_id: group,
          event,
        });
        await fanOutAll(this.#nodes[0] as Harness);
        this.#model.events.set(group, [...(this.#model.events.get(group) ?? []), id]);
        return;
      }
      case 'type':
        if (!this.#model.titles.get(group)?.has(`only-${group}`)) await this.#addType(group, `only-${group}`);
        return;
    }
  }

  async #issue(a: number, b: number, scopes: string[], seconds: number): Promise<void> {
    const partnerId = [...this.#model.verified.keys()][a % PARTNERS] as string;
    if (!this.#model.verified.get(partnerId)) return;
    const home = [...this.#model.groups][b % GROUPS] as string;
    const expiresAt = seconds === 0 ? Number.POSITIVE_INFINITY : this.#clock.now() + seconds * 1000;
    const issued = await this.#operator('POST', '/keys', {
      partner_id: partnerId,
      practice_group_id: home,
      scopes,
      rate_limit_per_minute: 100_000,
      ...(seconds > 0 && { expires_at: new Date(expiresAt).toISOString() }),
    });
    this.#model.keys.set(issued.key, {
      id: issued.id,
      partnerId,
      home,
      scopes: new Set(scopes),
      expiresAt,
      revoked: false,
      replaced: false,
    });
  }

  async #rotate(old: ModelKey, seconds: number): Promise<void> {
    const now = this.#clock.now();
    if (old.revoked || old.replaced || old.expiresAt <= now || !this.#model.verified.get(old.partnerId))
      return;
    const issued = await this.#operator('POST', `/keys/${old.id}/rotate`, { overlap_seconds: seconds });
    this.#model.keys.set(issued.key, { ...old, id: issued.id });
    old.replaced = true;
    old.expiresAt = Math.min(old.expiresAt, now + seconds * 1000);
  }
}
