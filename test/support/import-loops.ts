import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { request } from 'undici';
import { expect } from 'vitest';
import { digestOf, type Item, readItem } from '../../src/domain/practices/import.ts';
import { temporaryFolder } from './afterwards.ts';
import { porter as cli } from './cli.ts';
import {
  freePort,
  kill,
  newDataDir,
  type Porter,
  postmasterPid,
  signal,
  startPorter,
  until,
} from './porter-process.ts';
import { practicesOf } from './practice-items.ts';
import { type Loose, OPERATOR_TOKEN } from './service.ts';

/** Imports and comparisons of many items, looked into and cut off. `npm test` runs short ones, `npm run test:faults` long ones. */

const PER_PRACTICE = 20;
const lineOf = (item: object) => `${JSON.stringify(item)}\n`;

/** Sends lines, and takes the answer's one by one, while it sends. */
async function exchangeLines(
  { url }: Porter,
  path: string,
  lines: Iterable<string> | AsyncIterable<string>,
  take: (answer: Loose) => void,
): Promise<void> {
  const answer = await request(`${url}/operator/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body: Readable.from(lines),
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  expect(answer.statusCode).toBe(200);
  let rest = '';
  for await (const part of answer.body.setEncoding('utf8')) {
    const whole = `${rest}${part}`.split('\n');
    rest = whole.pop() ?? '';
    for (const one of whole) take(JSON.parse(one));
  }
}

function digestLine(value: Loose): string {
  const item = readItem(value) as Item;
  const { kind, id, practice_group_id } = value;
  const ofAssignee = kind === 'assignee' ? { assignee_type: value.assignee_type } : {};
  return lineOf({ kind, id, practice_group_id, ...ofAssignee, digest: digestOf(item) });
}

// ---- Memory ----

const PRELOAD = new URL('./heap-on-request.ts', import.meta.url).href;

async function heapOf(porter: Porter): Promise<number> {
  const heaps = () => [...porter.output().matchAll(/^heap (\d+)$/gm)].map(([, bytes]) => Number(bytes));
  const before = heaps().length;
  signal(porter.pid, 'SIGUSR2');
  await until('it tells its heap', () => heaps().length > before);
  return heaps().at(-1) ?? 0;
}

/** What the heap of the service holds after so many items of each, in bytes: while they are imported, and while they are compared. */
export async function heapWhileStreaming(marks: readonly [number, number]) {
  const porter = await startPorter(await freePort(), {
    PORTER_DATA_DIR: newDataDir(),
    NODE_OPTIONS: `--import ${PRELOAD}`,
  });
  const practices = marks[1] / PER_PRACTICE;
  /** Of an import each line is answered. Of a comparison none is, where nothing differs: there it is enough that they were taken. */
  const measured = async (path: string, write: (item: Loose) => string, isAnswered: boolean) => {
    const heaps: number[] = [];
    let answered = 0;
    const lines = async function* () {
      let sent = 0;
      for (const item of practicesOf(practices, 'heap')) {
        yield write(item);
        sent++;
        if (sent !== marks[0] && sent !== marks[1]) continue;
        // All but what is gathered for the next thousand, and the thousand that is being written.
        if (isAnswered) await until('they are answered', () => answered >= sent - 2_000);
        heaps.push(await heapOf(porter));
      }
    };
    const others: Loose[] = [];
    await exchangeLines(porter, path, lines(), (line) => {
      answered++;
      if (line.outcome !== 'created') others.push(line);
    });
    expect(others).toEqual([]);
    return { heaps, answered };
  };
  const imported = await measured('/import', lineOf, true);
  expect(imported.answered).toBe(marks[1]);
  const compared = await measured('/reconcile', digestLine, false);
  expect(compared.answered).toBe(0);
  return { imported: imported.heaps, compared: compared.heaps };
}

// ---- Faults ----

interface Round {
  practices: number;
  /** So often the service, or its PostgreSQL, is killed in the middle. */
  kills: number;
  random: () => number;
}

/** What was acknowledged is there after each of them, what was not is told, and the same lines sent again end with everything right. */
export async function killDuringImport({ practices, kills, random }: Round): Promise<Loose> {
  const dataDir = newDataDir();
  const port = await freePort();
  let porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
  const items = [...practicesOf(practices, 'killed')];
  const lines = items.map(lineOf);
  const acknowledged = new Set<number>();
  const ends: Record<string, number> = {};
  for (let n = 0; n <= kills; n++) {
    const at = n === kills ? Number.POSITIVE_INFINITY : Math.floor(random() * (items.length - 2_000));
    const hits = n % 2 === 0 ? 'service' : 'postgres';
    let seen = 0;
    let killing: Promise<void> | undefined;
    let told: Loose | undefined;
    const fault = async () => {
      if (hits === 'service') {
        await kill(porter);
        porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
      } else signal(postmasterPid(dataDir) ?? 0, 'SIGKILL');
    };
    const again: string[] = [];
    const end = await exchangeLines(porter, '/import', lines, (line) => {
      if (line.outcome === undefined) {
        told = line;
        return;
      }
      seen++;
      if (acknowledged.has(line.index)) again.push(line.outcome);
      acknowledged.add(line.index);
      if (seen > at) killing ??= fault();
    }).then(
      () => (told ? 'told' : 'whole'),
      () => 'cut off',
    );
    await killing;
    // Nothing that was acknowledged before had to be made once more.
    expect(new Set([...again, 'unchanged'])).toEqual(new Set(['unchanged']));
    if (n === kills) expect([end, seen]).toEqual(['whole', items.length]);
    else if (hits === 'service') expect(end).toBe('cut off');
    else if (end !== 'whole') {
      expect(end).toBe('told');
      expect(told?.problem).toMatchObject({ error: 'service_unavailable' });
    }
    ends[`${hits} ${end}`] = (ends[`${hits} ${end}`] ?? 0) + 1;
    await until('it serves', () =>
      fetch(`${porter.url}/readyz`)
        .then(({ ok }) => ok)
        .catch(() => false),
    );
  }
  expect(acknowledged.size).toBe(items.length);
  const differences: Loose[] = [];
  await exchangeLines(porter, '/reconcile', items.map(digestLine), (line) => differences.push(line));
  expect(differences).toEqual([]);
  return { items: items.length, ...ends };
}

/** `porter import` says where it broke off; from there it goes on, and then both sides have the same. */
export async function resumeByCommand(practices: number): Promise<void> {
  const dataDir = newDataDir();
  const port = await freePort();
  let porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'all.ndjson'), [...practicesOf(practices, 'resumed')].map(lineOf).join(''));
  const env = { PORTER_URL: porter.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
  let calls = 0;
  const broken = await cli('import all.ndjson', {
    cwd,
    env,
    fetch: async (input, init) => {
      const answer = fetch(input, init);
      answer.catch(() => {});
      if (++calls === 2) await kill(porter);
      return answer;
    },
  });
  expect(broken.code).not.toBe(0);
  const [, from] = /Run it again with --from-line (\d+) to go on\./.exec(broken.stderr) ?? [];
  expect(from).toBe('1001');
  porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
  const resumed = await cli(`import all.ndjson --from-line ${from} --json`, { cwd, env });
  expect([resumed.code, resumed.json]).toEqual([0, expect.objectContaining({ refused: 0, stale: 0 })]);
  const { json } = await cli('reconcile all.ndjson --json', { cwd, env });
  expect(json).toMatchObject({
    compared: practices * PER_PRACTICE,
    differs: 0,
    missing_here: 0,
    missing_there: 0,
  });
}
