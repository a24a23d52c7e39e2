import { Agent } from 'undici';
import { expect, onTestFinished } from 'vitest';
import { Load } from './load.ts';
import {
  clusterPids,
  freePort,
  kill,
  newDataDir,
  type Porter,
  postmasterPid,
  signal,
  spawnPorter,
  startPorter,
  until,
  untilReady,
} from './porter-process.ts';
import { RawConnection } from './raw-http.ts';
import { createDatabase, OPERATOR_TOKEN, sender } from './service.ts';

/** The loops of the fault tests. `npm test` runs each for a round or two, `npm run test:faults` for many. */

/** Small, quick and repeatable: which of several faults, and after how many writes. */
export function dice(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A service on a PostgreSQL of its own, and the writers. */
async function startLoaded(): Promise<{ porter: Porter; load: Load; dataDir: string; port: number }> {
  const dataDir = newDataDir();
  const port = await freePort();
  const porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
  const load = new Load(porter.url);
  onTestFinished(() => load.abandon());
  await load.furnish();
  load.start();
  await load.acknowledgeMore(50);
  return { porter, load, dataDir, port };
}

/** (a) PostgreSQL dies under load; the service stays, and answers 503 until it is back. */
export async function killPostgresUnderLoad(rounds: number, seed: number): Promise<Load> {
  const roll = dice(seed);
  const { porter, load, dataDir } = await startLoaded();
  for (let round = 0; round < rounds; round++) {
    await load.acknowledgeMore(1 + roll(600));
    const [postmaster, ...children] = clusterPids(dataDir);
    if (postmaster === undefined) throw new Error('PostgreSQL does not run');
    // Most often the server itself; sometimes one of its processes, after which it restarts all others by itself.
    const victim = roll(4) === 0 ? (children[roll(children.length)] ?? postmaster) : postmaster;
    signal(victim, 'SIGKILL');
    await load.acknowledgeMore(300, porter);
    await load.stop();
    await load.check();
    expect(load.connectionErrors).toEqual([]);
    load.start();
  }
  await load.stop();
  await terminate(porter);
  return load;
}

/** (b) The service dies under load and is started again on the same folder and port. */
export async function killServiceUnderLoad(rounds: number, seed: number): Promise<Load> {
  const roll = dice(seed);
  const loaded = await startLoaded();
  const { load, dataDir, port } = loaded;
  let { porter } = loaded;
  for (let round = 0; round < rounds; round++) {
    await load.acknowledgeMore(1 + roll(1_200));
    await kill(porter);
    // Sometimes its PostgreSQL dies with it, as in a power cut; else the next start adopts the one that runs.
    const postmaster = postmasterPid(dataDir);
    if (roll(3) === 0 && postmaster !== undefined) signal(postmaster, 'SIGKILL');
    porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
    await load.acknowledgeMore(100);
    await load.stop();
    await load.check();
    load.start();
  }
  await load.stop();
  await terminate(porter);
  return load;
}

/** (e) PostgreSQL stands still: it keeps its connections and says nothing. */
export async function freezePostgresUnderLoad(rounds: number): Promise<Load> {
  const { porter, load, dataDir } = await startLoaded();
  for (let round = 0; round < rounds; round++) {
    const frozen = clusterPids(dataDir);
    const thaw = () => {
      for (const pid of frozen) signal(pid, 'SIGCONT');
    };
    onTestFinished(thaw);
    for (const pid of frozen) signal(pid, 'SIGSTOP');

    // The service's own limits are 11 s for a statement and 3 s for a connection. A write can wait for the batch before
    // it, too; twice both is the most.
    const hung = new Set(Array.from({ length: 20 }, (_, n) => n));
    const before = load.statuses[503] ?? 0;
    const probes = [...hung].map(async (n) => {
      const answer = await fetch(`${porter.url}/v1/practice-groups`, { headers: load.credentials });
      hung.delete(n);
      if (![200, 503].includes(answer.status)) load.faults.push(`${answer.status} while frozen`);
    });
    await until('every caller has an answer', () => hung.size === 0);
    await Promise.all(probes);
    await until('the writers heard 503', () => (load.statuses[503] ?? 0) >= before + 32);

    thaw();
    await load.acknowledgeMore(300, porter);
    await load.stop();
    await load.check();
    expect(load.connectionErrors).toEqual([]);
    load.start();
  }
  await load.stop();
  await terminate(porter);
  return load;
}

/** (d) SIGTERM under load: what has begun is finished, and then it ends by itself. */
export async function terminateUnderLoad(rounds: number, seed: number): Promise<Load> {
  const roll = dice(seed);
  const loaded = await startLoaded();
  const { load, dataDir, port } = loaded;
  let { porter } = loaded;
  await load.operator('POST', '/practice-groups/load-0/submission-types', {
    id: 'begun',
    pathway_id: 'p',
    title: '0',
  });
  for (let round = 1; round <= rounds; round++) {
    await load.acknowledgeMore(1 + roll(600));
    // Whoever has heard "100 Continue" has a request that the service has begun, and the rest of which is still to come.
    const body = JSON.stringify({ title: `round ${round}` });
    const begun = new RawConnection(porter.url);
    const head = Object.entries({
      host: 'a',
      ...load.credentials,
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    }).map(([name, value]) => `${name}: ${value}\r\n`);
    await begun.write(`PATCH /v1/care-nav/submission-types/begun HTTP/1.1\r\n${head.join('')}\r\n`);
    await begun.hear('100 Continue\r\n\r\n');
    const exit = terminate(porter);
    await until('it begins to stop', () => porter.output().includes('"stopping"'));
    const answer = await begun.exchange(body);
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body.toString()).title).toBe(`round ${round}`);
    await exit;
    expect(load.halfAnswers).toBe(0);
    expect(Object.keys(load.statuses)).toEqual(['200']);

    porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
    await load.acknowledgeMore(50);
    await load.stop();
    await load.check();
    const stored = await load.operator('GET', '/practice-groups/load-0/submission-types/begun');
    expect(stored.title).toBe(`round ${round}`);
    load.start();
  }
  await load.stop();
  await terminate(porter);
  return load;
}

/** (c) Two nodes start on one empty database at the same moment, and make one world together. */
export async function startTwoNodesAtOnce(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const DATABASE_URL = await createDatabase();
    const start = async () =>
      spawnPorter(await freePort(), { DATABASE_URL, PORTER_DATA_DIR: newDataDir(), PORTER_DEMO: 'on' });
    const nodes = await Promise.all([start(), start()]);
    const keyOf = (node: Porter) => /x-api-key: (ptr_test_\w+)/.exec(node.output())?.[1];
    await until('both print a key', () => nodes.every(keyOf));
    const demoKeys = nodes.map((node) => keyOf(node) ?? 'none');
    for (const node of nodes) {
      const send = sender(node.url, new Agent());
      const list = async (noun: string) =>
        (await send('GET', `/operator/v1/${noun}`, { token: OPERATOR_TOKEN })).body;
      expect((await list('practice-groups')).count).toBe(2);
      expect((await list('networks')).count).toBe(1);
      expect((await list('partners')).count).toBe(1);
      expect((await list('operators')).count).toBe(1);
      expect((await list('audit/verify')).ok).toBe(true);
      // Each node prints a key of its own, and each key works on both.
      for (const key of demoKeys) {
        const answer = await send('GET', '/v1/practice-groups', { key, group: 'riverside-surgery' });
        expect(answer.status, node.output()).toBe(200);
      }
    }
    await Promise.all(nodes.map(terminate));
  }
}

/** (c) Two services start on one data folder at the same moment: one serves, the other says why it does not. */
export async function startTwoOnOneFolder(rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const PORTER_DATA_DIR = newDataDir();
    const start = async () => spawnPorter(await freePort(), { PORTER_DATA_DIR });
    const both = await Promise.all([start(), start()]);
    await until('one of them has ended', () => both.some((one) => one.hasExited()));
    const [refused, serving] = both[0]?.hasExited() ? both : both.toReversed();
    if (!refused || !serving) throw new Error('there are two');
    expect(await refused.exited).toBe(1);
    expect(refused.output()).toMatch(
      /^\nPorter cannot start\. .*another Porter \(pid \d+\) runs on this folder; stop it or set PORTER_DATA_DIR\n$/,
    );
    expect(refused.output()).toContain(PORTER_DATA_DIR);
    await untilReady(serving);
    expect(refused.output()).toContain(`pid ${serving.pid}`);
    await terminate(serving);
  }
}

/** It promises 10 s, which graceful-stop.test.ts counts; a process on a busy machine takes longer to end. */
const STOPS_WITHIN_MS = 30_000;

async function terminate(porter: Porter): Promise<void> {
  porter.process.kill('SIGTERM');
  await until(() => `it ends: ${porter.output().slice(-2_000)}`, porter.hasExited, STOPS_WITHIN_MS);
  expect(await porter.exited, porter.output().slice(-2_000)).toBe(0);
}
