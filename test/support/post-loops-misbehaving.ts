import { setTimeout as pause } from 'node:timers/promises';
import { Webhook as Verifier } from 'standardwebhooks';
import { expect } from 'vitest';
import { parseDeliveryId } from '../../src/domain/ids.ts';
import { pem, testReceiver, testServer } from './egress.ts';
import { ManualClock } from './manual-clock.ts';
import { until } from './porter-process.ts';
import { newPartner, type Partner } from './post.ts';
import {
  type Behaviour,
  closeMidway,
  hang,
  huge,
  lieLength,
  ok,
  type Receiver,
  redirect,
  slow,
  status,
} from './receiver.ts';
import { type Harness, type Loose, startHarness } from './service.ts';

/** (d) Receivers that are down, slow, wrong or gone, beside one that is well, while events keep coming. */

/** How a partner, or the operator for it, gets what it missed once its receiver is well. */
type Remedy = 'retry' | 'replay' | 'activate' | 'move';

interface Misbehaviour {
  behaviour?: Behaviour;
  /** Instead of a behaviour: an address where things go wrong before a request is made. */
  address?: () => Promise<string>;
  phase: string | null;
  diagnosis: RegExp;
  remedy: Remedy;
}

const RETRY_AFTER_S = 3_600;
const TOO_OFTEN = status(429, { 'retry-after': String(RETRY_AFTER_S) });

const MISBEHAVIOURS: Record<string, Misbehaviour> = {
  'refuses connections': {
    behaviour: 'refuse',
    phase: 'connect',
    diagnosis: /refused the connection\. Check that the receiver runs/,
    remedy: 'retry',
  },
  'hangs in TLS': {
    address: async () => `https://localhost:${await testServer(() => {})}/`,
    phase: 'tls',
    diagnosis: /^Connected to 127\.0\.0\.1:\d+, but TLS did not come about in 15(\.\d)? s\.$/,
    remedy: 'move',
  },
  'has a bad certificate': {
    address: async () => (await testReceiver({ tls: { cert: pem('self-signed'), key: pem('key') } })).url,
    phase: 'tls',
    diagnosis: /^TLS certificate is self-signed\./,
    remedy: 'move',
  },
  'hangs before the answer': {
    behaviour: hang,
    phase: 'answer',
    diagnosis: /^Connected, but no answer in 15(\.\d)? s\./,
    remedy: 'retry',
  },
  'answers byte by byte': {
    behaviour: slow,
    phase: 'answer',
    diagnosis: /^Answered 200, but the answer did not end in 15(\.\d)? s\./,
    remedy: 'replay',
  },
  'claims more than it sends': {
    behaviour: lieLength(100, 5),
    phase: 'answer',
    diagnosis:
      /^Answered 200, but the answer did not end in 15(\.\d)? s\. Check that its Content-Length is true\.$/,
    remedy: 'retry',
  },
  'closes mid-answer': {
    behaviour: closeMidway,
    phase: 'answer',
    diagnosis: /^Answered 200, but the receiver closed the connection before the answer was whole\.$/,
    remedy: 'replay',
  },
  'redirects to the metadata address': {
    behaviour: redirect(),
    phase: null,
    diagnosis: /^Answered 302: redirects are not followed/,
    remedy: 'retry',
  },
  fails: { behaviour: status(500), phase: null, diagnosis: /^Answered 500: /, remedy: 'replay' },
  'is called too often': {
    behaviour: TOO_OFTEN,
    phase: null,
    diagnosis: /^Answered 429: the receiver is called too often\./,
    remedy: 'retry',
  },
  'is gone': {
    behaviour: status(410),
    phase: null,
    diagnosis: /^Answered 410: the receiver wants no more events\./,
    remedy: 'activate',
  },
};

/** Fewer than a webhook is sent at once in the beginning: those that fail do so together, after 15 s at most. */
const OBJECTS = ['a', 'b', 'c'];
const BREATH_MS = 250;
const LOOK_MS = 200;
/** A webhook that is well must not wait for its neighbours, whose deadline is 15 s. */
const AT_ONCE_MS = 12_000;
const RECOVERS_MS_MAX = 60_000;

interface Hook {
  name: string;
  id: string;
  secret: string;
  receiver: Receiver;
}

interface Patient extends Hook {
  ill: Misbehaviour;
}

interface Published {
  ids: string[];
  bodies: string[];
}

/** Returns how things went for the one that is well, and how many deliveries came more than once. */
export async function misbehaveUnderTraffic(rounds: number): Promise<string> {
  // Verifiers compare with the real time. From here on it stands still, so that no retry comes by itself.
  const clock = new ManualClock(new Date().toISOString());
  const house = await startHarness({ clock });
  const partner = await newPartner(house);
  const healthy = await newHook(partner, 'is well');
  // It says more than anybody wants to hear, but that it has the event is said at once.
  const verbose = await newHook(partner, 'sends 100 MB', huge());
  const patients: Patient[] = [];
  for (const [name, ill] of Object.entries(MISBEHAVIOURS))
    patients.push({ ...(await newHook(partner, name)), ill });

  const all: Published = { ids: [], bodies: [] };
  let slowest = 0;
  for (let round = 0; round < rounds; round++) {
    const before = all.ids.length;
    for (const patient of patients) await fallIll(partner, patient);
    const diagnosed = Promise.all(patients.map((patient) => beDiagnosed(house, partner, patient)));
    let isDiagnosed = false;
    const stop = () => {
      isDiagnosed = true;
    };
    diagnosed.then(stop, stop);
    while (!isDiagnosed) {
      await publishOneEach(house, partner, all);
      const since = performance.now();
      await untilItHas(healthy, all.bodies, AT_ONCE_MS);
      slowest = Math.max(slowest, performance.now() - since);
      await pause(BREATH_MS);
    }
    await diagnosed;
    const missed = { ids: all.ids.slice(before), bodies: all.bodies.slice(before) };
    await Promise.all(patients.map((patient) => recover(house, partner, patient, missed)));
  }

  const hooks = [healthy, verbose, ...patients];
  for (const hook of hooks) await expectAll(partner, hook, all.bodies);
  for (const { receiver } of [healthy, verbose]) expect(receiver.received).toHaveLength(all.bodies.length);
  expect(verbose.receiver.bytesSent).toBeLessThan(all.bodies.length * SAID_BEFORE_CUT_OFF_MAX);
  const deliveries = hooks.reduce((sum, { receiver }) => sum + receiver.received.length, 0);
  return JSON.stringify({
    events: all.ids.length,
    deliveries: hooks.length * all.ids.length,
    deliveriesReceived: deliveries,
    slowestOfTheHealthyMs: Math.round(slowest),
  });
}

/** What fits into the buffers of both sides; it would say 100 MB. */
const SAID_BEFORE_CUT_OFF_MAX = 8_000_000;

async function newHook(partner: Partner, name: string, behaviour = ok): Promise<Hook> {
  const receiver = await testReceiver({ behaviour });
  const { id, secret } = await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  return { name, id, secret, receiver };
}

let numbers = 0;

/** One event about each object, each with a text of its own. */
async function publishOneEach(house: Harness, { groupId }: Partner, all: Published): Promise<void> {
  const events = OBJECTS.map((id) => ({
    object: 'Appointment',
    id,
    practice_group_id: groupId,
    event: 'appointment.booking-failed',
    failure_reason: `number ${++numbers}`,
  }));
  const { event_ids } = await house.operator('POST', '/events', { events });
  all.ids.push(...event_ids);
  all.bodies.push(...events.map((event) => JSON.stringify(event)));
}

async function fallIll(partner: Partner, { id, receiver, ill }: Patient): Promise<void> {
  if (ill.behaviour) await receiver.setBehaviour(ill.behaviour);
  if (ill.address) await partner.call('PATCH', `/v1/webhooks/${id}`, { url: await ill.address() });
}

/** The log says what is wrong with the receiver, in words, and the phase; where it helps, when it is tried again. */
async function beDiagnosed(
  { operator }: Harness,
  partner: Partner,
  { id, name, ill }: Patient,
): Promise<void> {
  for (;;) {
    const log = await operator('GET', `/deliveries?webhook_id=${id}&status=pending`);
    const tried: Loose[] = log.data.filter(({ attempts }: Loose) => attempts.length > 0);
    for (const { attempts, next_attempt_at } of tried) {
      expect(attempts, name).toMatchObject([{ outcome: 'failed', phase: ill.phase }]);
      const [{ at, diagnosis }] = attempts;
      expect(diagnosis, name).toMatch(ill.diagnosis);
      const asked = ill.behaviour === TOO_OFTEN ? RETRY_AFTER_S * 1_000 : 0;
      expect(Date.parse(next_attempt_at), name).toBeGreaterThan(Date.parse(at) + asked - 1);
    }
    const { status: state } = await partner.call('GET', `/v1/webhooks/${id}`);
    if (ill.remedy === 'activate' ? state === 'disabled' : tried.length === OBJECTS.length) return;
    await pause(LOOK_MS);
  }
}

/** The receiver is well again, and what it missed is asked for: it gets all of it, although it is not time yet. */
async function recover(house: Harness, partner: Partner, patient: Patient, missed: Published): Promise<void> {
  const { id, receiver, ill } = patient;
  const receivedWhileIll = receiver.received.length;
  await receiver.setBehaviour(ok);
  if (ill.remedy === 'move') await partner.call('PATCH', `/v1/webhooks/${id}`, { url: receiver.url });
  if (ill.remedy === 'activate') await partner.call('PATCH', `/v1/webhooks/${id}`, { status: 'active' });
  if (ill.remedy === 'retry' || ill.remedy === 'move') {
    const { data } = await house.operator('GET', `/deliveries?webhook_id=${id}&status=pending`);
    for (const { id } of data) await house.operator('POST', `/deliveries/${id}/retry`);
  } else await partner.call('POST', `/v1/webhooks/${id}/replay`, { event_ids: missed.ids });
  await untilItHas(patient, missed.bodies, RECOVERS_MS_MAX, receivedWhileIll);
}

async function untilItHas(hook: Hook, bodies: string[], ms: number, from = 0): Promise<void> {
  const missing = () => {
    const received = new Set(hook.receiver.received.slice(from).map(({ body }) => body));
    return bodies.filter((body) => !received.has(body));
  };
  const late = () => `${hook.name} still misses ${missing().length}, first ${missing()[0]}`;
  await until(late, () => missing().length === 0, ms);
}

/** All events with the bodies that were published, signed, numbered without a gap, each object's in order. */
async function expectAll(partner: Partner, hook: Hook, bodies: string[]): Promise<void> {
  const { id, name, secret, receiver } = hook;
  const first = new Map<string, number>();
  for (const { body, headers } of receiver.received) {
    new Verifier(secret).verify(body, headers as Record<string, string>);
    const sequence = Number(headers['webhook-sequence']);
    expect(parseDeliveryId(String(headers['webhook-id'])), name).toEqual({ webhookId: id, sequence });
    if (!first.has(body)) first.set(body, sequence);
    expect(first.get(body), `${name}: ${body}`).toBe(sequence);
  }
  expect(
    [...first.values()].sort((a, b) => a - b),
    name,
  ).toEqual(bodies.map((_, at) => at + 1));
  for (const object of OBJECTS) {
    const about = (body: string) => JSON.parse(body).id === object;
    expect([...first.keys()].filter(about), `${name}: ${object}`).toEqual(bodies.filter(about));
  }
  await until(
    () => `nothing is left in the queue of the one that ${name}`,
    async () => (await partner.call('GET', `/v1/webhooks/${id}`)).health.queued === 0,
  );
}
