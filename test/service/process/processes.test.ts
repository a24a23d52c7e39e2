import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Agent, Client } from 'undici';
import { expect, inject, it, onTestFinished } from 'vitest';
import { porter } from '../../support/cli.ts';
import { signIn } from '../../support/console-session.ts';
import {
  childrenOf,
  freePort,
  type Porter,
  signal,
  spawnPorter,
  until,
  untilReady,
} from '../../support/porter-process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { scratch } from '../../support/scratch.ts';
import {
  createUpToDateDatabase,
  type Harness,
  type Loose,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  sender,
} from '../../support/service.ts';

/** The service as several processes, as `npm start` runs it on a machine with several cores. */

interface Door extends Pick<Harness, 'send' | 'operator'> {
  /** The process that answers on this connection. */
  node: string;
  pid: number;
}

/** A process that is killed may just have been given a connection, of which then nobody hears. */
const ANSWER_MS = 30_000;

/**
 * A connection of its own, which stays with the process that was given it. Undefined: that one has given no sign of life yet, was just
 * killed, or is known already. Then it is closed, for a process takes only so many from one address, and many are tried until the next
 * process has started.
 */
async function enter({ url }: Porter, known: ReadonlyMap<string, Door>): Promise<Door | undefined> {
  const factory: Agent.Options['factory'] = (origin) =>
    new Client(origin, { pipelining: 1, headersTimeout: ANSWER_MS, bodyTimeout: ANSWER_MS });
  const agent = new Agent({ factory });
  const send = sender(url, agent);
  const operator: Door['operator'] = async (method, path, body) => {
    const answer = await send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const { data } = await operator('GET', '/nodes').catch(() => ({ data: [] }));
  const name = data.find(({ answering }: Loose) => answering)?.name;
  if (!name || known.has(name)) {
    await agent.destroy();
    return undefined;
  }
  onTestFinished(() => agent.destroy());
  return { send, operator, node: name, pid: pidOf(name) };
}

/** One of each process that answers calls. */
async function doors(service: Porter): Promise<[Door, Door]> {
  const found = new Map<string, Door>();
  await until('two processes answer', async () => {
    const door = await enter(service, found);
    if (door) found.set(door.node, door);
    return found.size === 2;
  });
  return [...found.values()] as [Door, Door];
}

async function start(env: Record<string, string> = {}): Promise<Porter> {
  const service = spawnPorter(await freePort(), {
    DATABASE_URL: await createUpToDateDatabase(),
    PORTER_PROCESSES: '3',
    PORTER_RATE_WINDOWS: 'memory',
    PORTER_MASTER_KEY: randomBytes(32).toString('base64'),
    PORTER_DATA_DIR: join(scratch, `porter-processes-${randomBytes(6).toString('hex')}`),
    ...env,
  });
  await untilReady(service);
  return service;
}

/** The process that delivers. */
async function workerOf({ operator }: Door): Promise<number> {
  let found: number[] = [];
  await until('one process delivers', async () => {
    const { data } = await operator('GET', '/nodes');
    found = data.flatMap(({ role, name }: Loose) => (role === 'worker' ? pidOf(name) : []));
    return found.length === 1;
  });
  return found[0] as number;
}

/** A partner's receiver with a webhook, and the IDs of the events that it has received. */
async function receiving(door: Door) {
  const { key, groupId } = await makeWorld(door);
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const webhook = { body: { url: receiver.url }, key, group: groupId };
  expect((await door.send('POST', '/v1/webhooks', webhook)).status).toBe(201);
  return {
    key,
    group: groupId,
    publish: (id: string) => door.operator('POST', '/events', event(id, groupId)),
    received: () => receiver.received.map(({ body }) => JSON.parse(body).id as string),
  };
}

async function metric({ send }: Door, series: string): Promise<number> {
  const { text } = await send('GET', '/metrics');
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length));
}

const linesOf = (service: Porter, msg: string): Loose[] =>
  service
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .filter((line) => line.msg === msg);

const event = (id: string, practice_group_id: string) => ({
  object: 'Appointment',
  id,
  practice_group_id,
  event: 'appointment.confirmed',
});

it('several processes are one service, one may be killed, and all stop together', async () => {
  const service = await start();
  const [one, other] = await doors(service);
  const worker = await workerOf(one);
  expect(new Set([service.pid, one.pid, other.pid, worker]).size).toBe(4);

  // What one did, the other knows.
  const world = await makeWorld(one);
  const limited = await makeKey(one, world.groupId, { rate_limit_per_minute: 5 });
  const calls = Array.from({ length: 8 }, (_, n) =>
    (n % 2 ? one : other).send('GET', '/v1/practice-groups', { key: limited.key, group: world.groupId }),
  );
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
  const visitor = await signIn(one);
  const headers = { cookie: visitor.cookie, 'x-porter-console': '1' };
  expect((await other.send('GET', '/console/me', { headers })).status).toBe(200);

  // One page of metrics, whoever is asked.
  const counted = async ({ send }: Door) => {
    const { text } = await send('GET', '/metrics');
    return Number(/_count\{operation="listPracticeGroups",status="200"\} (\d+)/.exec(text)?.[1]);
  };
  // A process that does not tell its own within a second is left out.
  await expect.poll(async () => [await counted(one), await counted(other)]).toEqual([5, 5]);
  const { stdout } = await porter('status', {
    env: { PORTER_URL: service.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN },
  });
  for (const { node } of [one, other]) expect(stdout).toContain(node);

  // Killed while events come in: what was accepted arrives, and calls of others go on.
  const receiver = await startReceiver();
  onTestFinished(() => receiver.close());
  const webhook = { body: { url: receiver.url }, key: world.key, group: world.groupId };
  expect((await one.send('POST', '/v1/webhooks', webhook)).status).toBe(201);
  const accepted: string[] = [];
  const publish = async (door: Door, id: string) => {
    await door.operator('POST', '/events', event(id, world.groupId));
    accepted.push(id);
  };
  const lost = Array.from({ length: 20 }, (_, n) => publish(other, `lost-${n}`).catch(() => {}));
  await Promise.all(Array.from({ length: 10 }, (_, n) => publish(one, `before-${n}`)));
  for (const pid of [other.pid, worker]) signal(pid, 'SIGKILL');
  await Promise.all([...lost, ...Array.from({ length: 10 }, (_, n) => publish(one, `after-${n}`))]);
  const arrived = () =>
    new Set(receiver.received.map(({ body }) => JSON.parse(body).data?.id ?? JSON.parse(body).id));
  await until(
    () => `everything arrives: ${accepted.length} of ${[...arrived()]}`,
    () => accepted.every((id) => arrived().has(id)),
  );
  expect(accepted.length).toBeGreaterThanOrEqual(20);

  // Others take their places, and what those had counted still counts.
  const both = await doors(service);
  expect(both.map(({ pid }) => pid)).not.toContain(other.pid);
  await expect.poll(() => counted(both[0])).toBe(5);

  service.process.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  const output = service.output();
  expect(output.match(/listens on/g)).toHaveLength(1);
  const lines = output.split('\n').filter((line) => line.startsWith('{'));
  const nodes = lines.map((line) => pidOf(JSON.parse(line).node));
  expect(nodes).toEqual(expect.arrayContaining([service.pid, one.pid, other.pid]));
  await expect(fetch(service.url)).rejects.toThrow();
});

it('kills processes that hang and replaces them, and until then the node is not ready and shows what waits', async () => {
  const service = await start();
  const [one, other] = await doors(service);
  const worker = await workerOf(one);
  const { publish, received } = await receiving(one);
  await publish('before');
  await expect.poll(received).toContain('before');

  for (const pid of [worker, other.pid]) signal(pid, 'SIGSTOP');
  await publish('meanwhile');
  await expect.poll(() => metric(one, 'porter_delivery_oldest_seconds')).toBeGreaterThan(1);
  expect(received()).not.toContain('meanwhile');
  const ready = async () => {
    const { status, body } = await one.send('GET', '/readyz');
    return [status, body.message ?? ''];
  };
  await expect.poll(ready).toEqual([503, expect.stringContaining('that delivers events answers')]);
  await expect.poll(received).toContain('meanwhile');
  await expect.poll(ready).toEqual([200, '']);

  const pids = (await doors(service)).map(({ pid }) => pid);
  expect(pids).toContain(one.pid);
  expect(pids).not.toContain(other.pid);
  const hung = linesOf(service, 'a process hangs; it is killed');
  expect(hung).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ role: 'worker', pid: worker }),
      expect.objectContaining({ role: 'api', pid: other.pid }),
    ]),
  );
});

it('serves while one process ends again and again', async () => {
  const service = await start();
  const [one, other] = await doors(service);
  const { publish, received, key, group } = await receiving(one);
  const others = () => childrenOf(service.pid).filter((pid) => pid !== one.pid && pid !== other.pid);
  const ends = () => linesOf(service, 'a process ended; another one follows');
  await until('the worker has ended more often than is allowed to all', () => {
    for (const pid of others()) signal(pid, 'SIGKILL');
    return ends().length >= 7;
  });
  await publish('meanwhile');
  await until('the queue is reported', async () => {
    for (const pid of others()) signal(pid, 'SIGKILL');
    return (await metric(one, 'porter_delivery_queue{state="new"}')) === 1;
  });
  expect(await metric(one, 'porter_delivery_oldest_seconds')).toBeGreaterThan(0);
  expect((await other.send('GET', '/v1/practice-groups', { key, group })).status).toBe(200);
  expect(new Set(ends().map(({ role }) => role))).toEqual(new Set(['worker']));
  const pauses = ends().map(({ pause_ms }) => pause_ms);
  expect(pauses.slice(0, 5)).toEqual([0, 100, 200, 400, 800]);
  await expect.poll(received).toContain('meanwhile');
});

it('answers 503 while its parent hangs, and the parent kills no process when it goes on', async () => {
  const service = await start();
  const [one] = await doors(service);
  const { key, group } = await receiving(one);
  const status = async () => (await one.send('GET', '/v1/practice-groups', { key, group })).status;
  expect(await status()).toBe(200);
  const children = childrenOf(service.pid);
  signal(service.pid, 'SIGSTOP');
  await expect.poll(status).toBe(503);
  expect((await one.send('GET', '/readyz')).status).toBe(503);
  signal(service.pid, 'SIGCONT');
  await expect.poll(status).toBe(200);
  expect(childrenOf(service.pid)).toEqual(children);
  expect(linesOf(service, 'a process hangs; it is killed')).toEqual([]);
});

it('of a parent that is killed, no process is left', async () => {
  const service = await start({ PORTER_PROCESSES: '2' });
  const children = await doors(service);
  service.process.kill('SIGKILL');
  await until('they end', () => children.every(({ pid }) => !isThere(pid)));
  await expect(fetch(service.url)).rejects.toThrow();
});

it('says once what is wrong when it cannot start', async () => {
  const url = new URL(inject('postgresUrl'));
  url.password = 'wrong';
  const service = spawnPorter(await freePort(), { PORTER_PROCESSES: '3', DATABASE_URL: url.href });
  expect(await service.exited).toBe(1);
  expect(service.output().match(/Porter cannot start\. PostgreSQL .*refused the login/g)).toHaveLength(1);
});

it('stops at once while it waits for its database', async () => {
  const service = spawnPorter(await freePort(), {
    PORTER_PROCESSES: '3',
    DATABASE_URL: 'postgres://porter:secret@127.0.0.1:1/porter',
  });
  await until(
    'it tries again',
    () => linesOf(service, 'the database cannot be used yet; trying again').length > 1,
  );
  service.process.kill('SIGTERM');
  expect(await service.exited).toBe(0);
  expect(service.output()).not.toContain('Porter cannot start');
});

function pidOf(node: string): number {
  return Number(node.split(':').at(-1));
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
