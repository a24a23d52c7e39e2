import { expect, it } from 'vitest';
import {
  childrenOf,
  freePort,
  kill,
  newDataDir,
  postmasterPid,
  signal,
  spawnPorter,
  startPorter,
  until,
  untilReady,
} from '../support/porter-process.ts';
import { type Loose, OPERATOR_TOKEN } from '../support/service.ts';

/** The service as several processes on its own PostgreSQL. */
const settings = (dataDir: string) => ({ PORTER_DATA_DIR: dataDir, PORTER_PROCESSES: '3' });

it('gives up with code 1 when its processes end again and again, and stops its PostgreSQL', async () => {
  const dataDir = newDataDir();
  const porter = await startPorter(await freePort(), settings(dataDir));
  await until('it ends', () => {
    for (const pid of childrenOf(porter.pid)) signal(pid, 'SIGKILL');
    return porter.hasExited();
  });
  expect(await porter.exited).toBe(1);
  expect(porter.output()).toContain('Porter gives up: its processes end again and again.');
  expect(porter.output().match(/a process ended; another one follows/g)?.length).toBeGreaterThanOrEqual(6);
  expect(postmasterPid(dataDir)).toBeUndefined();
});

it('serves again when all of its processes were killed at once, and after the parent was, on the same PostgreSQL', async () => {
  const dataDir = newDataDir();
  const port = await freePort();
  const porter = await startPorter(port, settings(dataDir));
  await until('all are there', () => childrenOf(porter.pid).length === 3);
  const killed = childrenOf(porter.pid);
  for (const pid of killed) signal(pid, 'SIGKILL');
  await until('others are there', () => {
    const now = childrenOf(porter.pid);
    return now.length === 3 && now.every((pid) => !killed.includes(pid));
  });
  await untilReady(porter);

  const postmaster = postmasterPid(dataDir);
  await kill(porter);
  const next = spawnPorter(port, settings(dataDir));
  await untilReady(next);
  expect(postmasterPid(dataDir)).toBe(postmaster);
  next.process.kill('SIGTERM');
  expect(await next.exited).toBe(0);
  expect(postmasterPid(dataDir)).toBeUndefined();
});

it('begins an alert within two minutes when its only worker ends again and again', async () => {
  const porter = await startPorter(await freePort(), settings(newDataDir()));
  const operator = async (method: string, path: string, body?: object): Promise<Loose> => {
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/json' };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await fetch(`${porter.url}/operator/v1${path}`, init)).json();
  };
  const kinds = async () => (await operator('GET', '/attention')).data.map(({ kind }: Loose) => kind);
  let workers = new Set<string>();
  await until('the worker has signed', async () => {
    const { data } = await operator('GET', '/nodes');
    workers = new Set(data.flatMap(({ role, name }: Loose) => (role === 'worker' ? name : [])));
    return data.length === 3;
  });
  const others = childrenOf(porter.pid).filter(
    (pid) => ![...workers].some((name) => name.endsWith(`:${pid}`)),
  );
  const killWorkers = () => {
    for (const pid of childrenOf(porter.pid)) if (!others.includes(pid)) signal(pid, 'SIGKILL');
  };
  killWorkers();
  await operator('POST', '/practice-groups', { id: 'waits', name: 'Waits' });
  const event = {
    object: 'Appointment',
    id: 'apt_1',
    practice_group_id: 'waits',
    event: 'appointment.confirmed',
  };
  await operator('POST', '/events', event);
  const accepted = performance.now();
  await until('the alert has begun', async () => {
    killWorkers();
    return (await kinds()).includes('deliveries_late');
  });
  const [group] = (await operator('GET', '/attention')).data.filter(
    ({ kind }: Loose) => kind === 'deliveries_late',
  );
  expect(group.items).toMatchObject([{ subject: { type: 'service' } }]);
  console.log(`the alert began after ${Math.round((performance.now() - accepted) / 1000)} s`);
  await until('it ends', async () => !(await kinds()).includes('deliveries_late'));
});

it('stops although a process hangs, with code 1', async () => {
  const dataDir = newDataDir();
  const porter = await startPorter(await freePort(), settings(dataDir));
  await until('all run', () => childrenOf(porter.pid).length === 3);
  for (const pid of childrenOf(porter.pid).slice(1)) signal(pid, 'SIGSTOP');
  porter.process.kill('SIGTERM');
  expect(await porter.exited).toBe(1);
  expect(postmasterPid(dataDir)).toBeUndefined();
});

it('replaces the first process, which hangs while it starts and migrates', async () => {
  const porter = spawnPorter(await freePort(), settings(newDataDir()));
  let first = 0;
  await until('the first process starts', () => {
    [first = 0] = childrenOf(porter.pid);
    return first !== 0;
  });
  signal(first, 'SIGSTOP');
  await untilReady(porter);
  expect(childrenOf(porter.pid)).not.toContain(first);
  expect(porter.output()).toContain('a process hangs; it is killed');
});
