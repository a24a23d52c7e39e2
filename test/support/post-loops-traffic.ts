import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import { expect, onTestFinished } from 'vitest';
import type { EventName } from '../../src/contract/events.ts';
import { events } from '../../src/contract/events.ts';
import { parseDeliveryId } from '../../src/domain/ids.ts';
import { type Porter, until } from './porter-process.ts';
import { type Endpoint, PostReceiver } from './post-receiver.ts';
import { type Loose, makeKey, OPERATOR_TOKEN, sender } from './service.ts';

/**
 * Sources that publish and webhooks that receive, while anything may happen to the service between them. Each source has
 * objects of its own and publishes one call after the other, so what it was told with 202 is an order; every event has a
 * number of its own in its payload, so that each body stands for one event.
 */

const GROUPS = ['north', 'south', 'west'];
const SOURCES = 6;
const OBJECTS_PER_SOURCE = 4;
const BATCH_MAX = 30;
/** Between two calls of a source. */
const BREATH_MS = 25;
/** With so many deliveries still to come the sources wait: queues are never empty, and never longer than a test is. */
const OWED_MAX = 500;
/** Some deliveries were refused, and are tried again after 5 s. */
const ARRIVES_MS_MAX = 60_000;

const FAILURES = [
  'appointment.booking-failed',
  'appointment.cancel-failed',
  'appointment.reschedule-failed',
] as const;
const WRITES = ['write-to-record.succeeded', 'write-to-record.failed'] as const;

/** One webhook hears everything of its group, another a part. */
const WANTED: { group: string; types?: EventName[] }[] = [
  { group: 'north' },
  { group: 'north', types: ['appointment.cancel-failed', 'write-to-record.failed'] },
  { group: 'south' },
  { group: 'west' },
  { group: 'west', types: ['appointment.booking-failed', 'write-to-record.succeeded'] },
];

interface Payload {
  object: string;
  id: string;
  practice_group_id: string;
  event: EventName;
}

interface Hook {
  id: string;
  group: string;
  key: string;
  types: readonly EventName[];
  endpoint: Endpoint;
  /** Exact bodies that were accepted and did not arrive so far. */
  owed: Set<string>;
}

export class PostTraffic {
  readonly #roll: (below: number) => number;
  readonly #receiver: PostReceiver;
  readonly #agent = new Agent({ connections: SOURCES + 2, pipelining: 1 });
  readonly #send: ReturnType<typeof sender>;
  readonly #hooks: Hook[] = [];
  /** By object, in the order of their acceptance. */
  readonly #accepted = new Map<string, Payload[]>();
  readonly #eventIds = new Set<string>();
  #sources: Promise<void>[] = [];
  #stopping = false;
  #numbers = 0;
  #calls = 0;
  #lastAcceptedCall = 0;
  readonly #faults: string[] = [];
  /** Since the start. */
  readonly statuses: Record<number, number> = {};
  connectionErrors = 0;
  accepted = 0;

  private constructor(url: string, roll: (below: number) => number, receiver: PostReceiver) {
    this.#roll = roll;
    this.#receiver = receiver;
    this.#send = sender(url, this.#agent);
  }

  /** Makes the groups, the partners and their webhooks, and begins to publish. */
  static async start(
    url: string,
    roll: (below: number) => number,
    refusesOneIn: number,
  ): Promise<PostTraffic> {
    const receiver = await PostReceiver.start(roll, refusesOneIn);
    const traffic = new PostTraffic(url, roll, receiver);
    onTestFinished(() => traffic.#abandon());
    await traffic.#furnish();
    traffic.#sources = Array.from({ length: SOURCES }, (_, source) => traffic.#publish(source));
    await traffic.move();
    return traffic;
  }

  async #furnish(): Promise<void> {
    for (const id of GROUPS) await this.#operator('POST', '/practice-groups', { id, name: id });
    for (const { group, types } of WANTED) {
      const { key } = await makeKey({ operator: this.#operator }, group, { rate_limit_per_minute: 100_000 });
      const endpoint = this.#receiver.addEndpoint();
      const made = await this.#send('POST', '/v1/webhooks', {
        key,
        group,
        body: { url: endpoint.url, ...(types && { event_types: types }) },
      });
      expect(made.status, made.text).toBe(201);
      const { id, secret, event_types } = made.body;
      endpoint.secret = secret;
      this.#hooks.push({ id, group, key, types: event_types, endpoint, owed: new Set() });
    }
  }

  readonly #operator = async (method: string, path: string, body?: unknown): Promise<Loose> => {
    const answer = await this.#send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };

  async #abandon(): Promise<void> {
    this.#stopping = true;
    await this.#agent.destroy();
    await Promise.all(this.#sources);
    await this.#receiver.close();
  }

  async #publish(source: number): Promise<void> {
    const group = GROUPS[source % GROUPS.length] as string;
    while (!this.#stopping) {
      await pause(BREATH_MS);
      if (this.#missing().length > OWED_MAX) continue;
      const single = this.#roll(2) === 0;
      const count = single ? 1 : 1 + this.#roll(BATCH_MAX);
      const payloads = Array.from({ length: count }, () => this.#payload(source, group));
      const call = ++this.#calls;
      const ids = await this.#untilAccepted(call, single ? payloads[0] : { events: payloads });
      if (!ids) return;
      this.#lastAcceptedCall = Math.max(this.#lastAcceptedCall, call);
      this.#remember(payloads, ids);
    }
  }

  #remember(payloads: Payload[], ids: string[]): void {
    if (ids.length !== payloads.length) this.#faults.push(`${payloads.length} events, ${ids.length} IDs`);
    for (const id of ids) {
      if (this.#eventIds.has(id)) this.#faults.push(`${id} twice`);
      this.#eventIds.add(id);
    }
    for (const payload of payloads) {
      const about = `${payload.object} ${payload.id}`;
      const earlier = this.#accepted.get(about);
      if (earlier) earlier.push(payload);
      else this.#accepted.set(about, [payload]);
      for (const hook of this.#hooks) if (wants(hook, payload)) hook.owed.add(JSON.stringify(payload));
    }
    this.accepted += payloads.length;
  }

  /** What was accepted and did not arrive so far. */
  #missing(): { hook: Hook; body: string }[] {
    return this.#hooks.flatMap((hook) => {
      for (const body of hook.owed) if (hook.endpoint.received.has(body)) hook.owed.delete(body);
      return [...hook.owed].map((body) => ({ hook, body }));
    });
  }

  #payload(source: number, group: string): Payload {
    const number = ++this.#numbers;
    const failure = this.#roll(2) === 0;
    const types = failure ? FAILURES : WRITES;
    const event = types[this.#roll(types.length)] as EventName;
    const base = {
      object: events[event].object,
      id: `object-${source}-${this.#roll(OBJECTS_PER_SOURCE)}`,
      practice_group_id: group,
      event,
    };
    // Text that suffers if anybody on the way takes it for something else than UTF-8.
    if (failure) return { ...base, ...{ failure_reason: `№ ${number}: "naïve" 💉\n` } };
    return { ...base, ...{ resource: 'Letter', resource_id: `${number}` } };
  }

  /** Says the same under the same key until it is told that it was heard; undefined when the test ended before. */
  async #untilAccepted(call: number, body: unknown): Promise<string[] | undefined> {
    const headers = { 'idempotency-key': `call-${call}` };
    while (!this.#agent.destroyed) {
      try {
        const answer = await this.#send('POST', '/operator/v1/events', {
          token: OPERATOR_TOKEN,
          body,
          headers,
        });
        this.statuses[answer.status] = (this.statuses[answer.status] ?? 0) + 1;
        if (answer.status === 202) return answer.body.event_ids;
        if (answer.status !== 503 || !Number(answer.headers['retry-after']))
          this.#faults.push(`${answer.status} ${answer.text}`);
      } catch {
        this.connectionErrors++;
      }
      await pause(20);
    }
    return undefined;
  }

  /** Returns when a call that is made from now on was accepted, and then something arrived; `by` must live on for that. */
  async move(by?: Porter): Promise<void> {
    const made = this.#calls;
    await this.#until('a call is accepted', () => this.#lastAcceptedCall > made, by);
    const { received } = this.#receiver;
    await this.#until('a delivery arrives', () => this.#receiver.received > received, by);
  }

  /** Returns when all that was accepted until now has arrived. */
  async catchUp(by: Porter): Promise<void> {
    const missing = this.#missing();
    const allArrived = () => missing.every(({ hook, body }) => hook.endpoint.received.has(body));
    await this.#until('all deliveries arrive', allArrived, by);
  }

  async #until(what: string, condition: () => boolean, by?: Porter): Promise<void> {
    try {
      await until(
        what,
        () => {
          if (by?.hasExited()) throw new Error('the service ended');
          return condition();
        },
        ARRIVES_MS_MAX,
      );
    } catch (error) {
      const log = by?.output().slice(-3_000) ?? '';
      throw new Error(`${(error as Error).message}\n${this.summary()}\n${await this.#stuck()}\n${log}`);
    }
  }

  /** What the service says about deliveries that do not arrive. */
  async #stuck(): Promise<string> {
    const missing = this.#missing();
    const [first] = missing;
    if (!first) return 'nothing is missing';
    const { id } = first.hook;
    const { data } = await this.#operator('GET', `/deliveries?webhook_id=${id}&status=pending`).catch(
      (error: Error) => ({ data: error.message }),
    );
    return `${missing.length} are missing, first at ${id}: ${first.body}\npending there: ${JSON.stringify(data)}`;
  }

  /** Publishes no more, waits until all has arrived, and compares. */
  async finish(by: Porter): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#sources);
    await this.catchUp(by);
    expect(this.#faults.slice(0, 5)).toEqual([]);
    expect(this.#receiver.faults.slice(0, 5)).toEqual([]);
    for (const hook of this.#hooks) {
      this.#compare(hook);
      await until(
        () => `${hook.id} has nothing left in its queue`,
        async () => (await this.#read(hook)).health.queued === 0,
      );
      expect(await this.#read(hook)).toMatchObject({ status: 'active', health: { failures: 0 } });
    }
  }

  async #read({ id, group, key }: Hook): Promise<Loose> {
    return (await this.#send('GET', `/v1/webhooks/${id}`, { key, group })).body;
  }

  #compare(hook: Hook): void {
    const { received } = hook.endpoint;
    const orders = [...this.#accepted.values()].map((payloads) =>
      payloads.filter((payload) => wants(hook, payload)).map((payload) => JSON.stringify(payload)),
    );
    const wanted = new Set(orders.flat());
    const unasked = [...received.keys()].filter((body) => !wanted.has(body));
    expect(unasked, `${hook.id} got what nobody published for it`).toEqual([]);

    const sequences = [...received.values()].map(({ sequence }) => sequence).sort((a, b) => a - b);
    expect(sequences, `the sequence of ${hook.id}`).toEqual(sequences.map((_, at) => at + 1));
    for (const { id, sequence } of received.values())
      expect(parseDeliveryId(id)).toEqual({ webhookId: hook.id, sequence });

    const places = new Map([...received.keys()].map((body, at) => [body, at]));
    for (const bodies of orders) {
      const arrived = bodies.toSorted((a, b) => (places.get(a) ?? 0) - (places.get(b) ?? 0));
      expect(arrived, `the order of one object at ${hook.id}`).toEqual(bodies);
    }
  }

  summary(): string {
    const deliveries = this.#hooks.flatMap(({ endpoint }) => [...endpoint.received.values()]);
    return JSON.stringify({
      accepted: this.accepted,
      deliveries: deliveries.length,
      duplicates: this.#receiver.received - deliveries.length,
      refusedOnce: this.#receiver.refusals,
      mostCopies: deliveries.reduce((most, { copies }) => Math.max(most, copies), 0),
      statuses: this.statuses,
      connectionErrors: this.connectionErrors,
    });
  }
}

function wants({ group, types }: Hook, { practice_group_id, event }: Payload): boolean {
  return practice_group_id === group && types.includes(event);
}
