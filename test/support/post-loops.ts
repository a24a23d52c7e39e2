import { setTimeout as pause } from 'node:timers/promises';
import { dice } from './fault-loops.ts';
import {
  clusterPids,
  freePort,
  kill,
  newDataDir,
  type Porter,
  postmasterPid,
  signal,
  startPorter,
  until,
} from './porter-process.ts';
import { PostTraffic } from './post-loops-traffic.ts';
import { createUpToDateDatabase } from './service.ts';

/** The loops of the post's fault tests. `npm test` runs each for a few rounds, `npm run test:faults` for many. */

/** Of the deliveries in a long loop, one in so many is refused once: retries must live through every fault, too. */
const REFUSES_ONE_IN = 200;
const LONG = 10;

interface Started {
  traffic: PostTraffic;
  roll: (below: number) => number;
  /** Long enough for anything to be under way, short enough for many rounds. */
  randomInstant(): Promise<void>;
}

async function startTraffic(url: string, rounds: number, seed: number): Promise<Started> {
  const roll = dice(seed);
  const traffic = await PostTraffic.start(url, roll, rounds < LONG ? 0 : REFUSES_ONE_IN);
  return { traffic, roll, randomInstant: () => pause(roll(1_000)) };
}

/** (a) The service dies and is started again on the same folder and port. */
export async function killServiceUnderTraffic(rounds: number, seed: number): Promise<PostTraffic> {
  const PORTER_DATA_DIR = newDataDir();
  const port = await freePort();
  let porter = await startPorter(port, { PORTER_DATA_DIR });
  const { traffic, roll, randomInstant } = await startTraffic(porter.url, rounds, seed);
  for (let round = 0; round < rounds; round++) {
    await randomInstant();
    await kill(porter);
    // Sometimes its PostgreSQL dies with it, as in a power cut; else the next start adopts the one that runs.
    const postmaster = postmasterPid(PORTER_DATA_DIR);
    if (roll(4) === 0 && postmaster !== undefined) signal(postmaster, 'SIGKILL');
    porter = await startPorter(port, { PORTER_DATA_DIR });
    await traffic.move(porter);
  }
  await traffic.finish(porter);
  return traffic;
}

/** (b) PostgreSQL dies; the service lives on. */
export async function killPostgresUnderTraffic(rounds: number, seed: number): Promise<PostTraffic> {
  const PORTER_DATA_DIR = newDataDir();
  const porter = await startPorter(await freePort(), { PORTER_DATA_DIR });
  const { traffic, roll, randomInstant } = await startTraffic(porter.url, rounds, seed);
  for (let round = 0; round < rounds; round++) {
    await randomInstant();
    await until('PostgreSQL runs', () => postmasterPid(PORTER_DATA_DIR) !== undefined);
    const pids = clusterPids(PORTER_DATA_DIR);
    // Most often the server itself; sometimes one of its processes, after which it restarts all others by itself.
    const victim = pids[roll(4) === 0 ? roll(pids.length) : 0];
    if (victim === undefined) throw new Error('PostgreSQL does not run');
    signal(victim, 'SIGKILL');
    await traffic.move(porter);
  }
  await traffic.finish(porter);
  return traffic;
}

/** One process takes the events, and two carry them. */
async function startThree() {
  const DATABASE_URL = await createUpToDateDatabase();
  const PORTER_MASTER_KEY = Buffer.alloc(32, 'post').toString('base64');
  const start = async (PORTER_ROLE: 'api' | 'worker'): Promise<Porter> => {
    const PORTER_DATA_DIR = newDataDir();
    return startPorter(await freePort(), { DATABASE_URL, PORTER_MASTER_KEY, PORTER_DATA_DIR, PORTER_ROLE });
  };
  const newWorker = () => start('worker');
  return { api: await start('api'), workers: [await newWorker(), await newWorker()], newWorker };
}

/** (c) The workers die in turns, and now and then both of them. */
export async function killWorkersUnderTraffic(rounds: number, seed: number): Promise<PostTraffic> {
  const { api, workers, newWorker } = await startThree();
  const { traffic, roll, randomInstant } = await startTraffic(api.url, rounds, seed);
  for (let round = 0; round < rounds; round++) {
    const turn = round % workers.length;
    const other = workers[1 - turn] as Porter;
    await randomInstant();
    await kill(workers[turn] as Porter);
    if (roll(4) === 0) {
      await randomInstant();
      await kill(other);
      workers[1 - turn] = await newWorker();
    } else await traffic.move(other);
    workers[turn] = await newWorker();
    await traffic.move(api);
  }
  await traffic.finish(api);
  return traffic;
}

/** A worker stands still for longer than its leases last, and then goes on as if nothing had happened. */
export async function freezeWorkersUnderTraffic(rounds: number, seed: number): Promise<PostTraffic> {
  const { api, workers } = await startThree();
  const { traffic, randomInstant } = await startTraffic(api.url, rounds, seed);
  for (let round = 0; round < rounds; round++) {
    const { pid } = workers[round % workers.length] as Porter;
    await randomInstant();
    signal(pid, 'SIGSTOP');
    await traffic.catchUp(api);
    signal(pid, 'SIGCONT');
    await traffic.move(api);
  }
  await traffic.finish(api);
  return traffic;
}
