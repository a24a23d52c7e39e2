import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
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
import { type Loose, makeKey, makeWorld, OPERATOR_TOKEN } from './service.ts';

/**
 * Partners change submission types while Porter, its PostgreSQL and the practice software (examples/practice-software) are killed in turns. In
 * the end, both sides have the same.
 */

const SOFTWARE = fileURLToPath(import.meta.resolve('../../examples/practice-software/main.ts'));
const TYPES = 4;

interface Round {
  changes: number;
  /** So often one of the three is killed. */
  kills: number;
  random: () => number;
}

interface Practice {
  groupId: string;
  keys: string[];
  isWrittenThrough: boolean;
}

/** Returns what happened, for whoever reads the log. */
export async function killBothSidesUnderTraffic({ changes, kills, random }: Round): Promise<Loose> {
  const dataDir = newDataDir();
  const port = await freePort();
  let porter: Porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(porter.url + path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  };
  const operator = async (method: string, path: string, body?: unknown): Promise<Loose> => {
    const answer = await call(method, `/operator/v1${path}`, body, {
      authorization: `Bearer ${OPERATOR_TOKEN}`,
    });
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };

  // Two practices are told of changes, one is asked first; three partners work for each.
  const software = await practiceSoftware(porter.url);
  const secrets: string[] = [];
  const { id: subscriptionId, secret } = await operator('POST', '/subscriptions', {
    url: software.url,
    topics: ['changes'],
  });
  secrets.push(secret);
  const practices: Practice[] = [];
  for (const isWrittenThrough of [false, false, true]) {
    const { groupId, key } = await makeWorld({ operator });
    const limit = { rate_limit_per_minute: 100_000 };
    const keys = [
      key,
      (await makeKey({ operator }, groupId, limit)).key,
      (await makeKey({ operator }, groupId, limit)).key,
    ];
    for (let n = 2; n <= TYPES; n++)
      await operator('POST', `/practice-groups/${groupId}/submission-types`, {
        id: `type-${n}`,
        pathway_id: 'p',
        title: 'Type',
      });
    if (isWrittenThrough)
      secrets.push(
        (await operator('PUT', `/practice-groups/${groupId}/write-through`, { url: software.url })).secret,
      );
    practices.push({ groupId, keys: keys.slice(1), isWrittenThrough });
  }
  const { token } = await operator('POST', '/operators', { name: 'Practice software', role: 'source' });
  await software.start(token, secrets);

  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const roll = () => Math.floor(random() * 1e9);
  const statuses: Record<string, number> = {};
  let done = 0;
  const partner = async () => {
    while (done < changes) {
      const { groupId, keys } = pick(practices);
      const headers = { 'x-api-key': pick(keys), 'x-practice-group-id': groupId };
      const body = pick([
        { title: `title ${roll()}` },
        { description: `text ${roll()}` },
        { daily_limit: Math.floor(random() * 600) },
        { title: `both ${roll()}`, suspended: random() < 0.5 },
      ]);
      const path = `/v1/care-nav/submission-types/type-${1 + Math.floor(random() * TYPES)}`;
      const status = await call('PATCH', path, body, headers).then(
        (answer) => (answer.status === 422 ? answer.body.rule : answer.status),
        () => 'cut off',
      );
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 200 || status === 'practice_software') done++;
      else await pause(20);
    }
  };
  const killer = async () => {
    for (let n = 1; n <= kills; n++) {
      const at = (n * changes) / (kills + 1);
      await until('the next kill', () => done >= at || done >= changes, 600_000);
      const what = (['porter', 'postgres', 'software'] as const)[n % 3];
      if (what === 'porter') {
        await kill(porter);
        porter = await startPorter(port, { PORTER_DATA_DIR: dataDir });
      } else if (what === 'postgres') {
        const pid = postmasterPid(dataDir);
        if (pid !== undefined) signal(pid, 'SIGKILL');
      } else {
        await software.kill();
        await software.start(token, secrets);
      }
    }
  };
  await Promise.all([killer(), ...Array.from({ length: 12 }, partner)]);

  // What waits for a retry need not wait for it here.
  const [writtenThrough] = practices.filter(({ isWrittenThrough }) => isWrittenThrough);
  const started = '2020-01-01T00:00:00Z';
  await untilDone(() => operator('POST', `/subscriptions/${subscriptionId}/replay`, { since: started }));
  await untilDone(() =>
    operator('PUT', `/practice-groups/${writtenThrough?.groupId}/write-through`, { url: software.url }),
  );
  await until(
    'nothing is pending any more',
    async () => (await feedOf(operator, 'state=pending&')).length === 0,
    300_000,
  );
  await until(
    'everything was delivered, and every proposal settled',
    async () => {
      const { health } = await operator('GET', `/subscriptions/${subscriptionId}`);
      const asked = await operator('GET', `/practice-groups/${writtenThrough?.groupId}/write-through`);
      return health.queued === 0 && asked.health.queued === 0;
    },
    300_000,
  );

  // It can be turned off when nothing is left to be settled, and not before: what a node that was killed left is withdrawn by another.
  await untilDone(() => operator('DELETE', `/practice-groups/${writtenThrough?.groupId}/write-through`));
  const feed = await feedOf(operator);
  await until('the software has read all of it', async () => {
    const { decisions } = await software.shown();
    return feed.every(({ id }) => id in decisions);
  });
  const there = await software.shown();
  // Each change ended as the software decided; it has decided on nothing else.
  expect(Object.fromEntries(feed.map(({ id, state }) => [id, state]))).toEqual(there.decisions);
  // It has what was applied, in the order of the feed; Porter has all of it.
  const folded = (only: (change: Loose) => boolean) => {
    const types: Record<string, Loose> = {};
    for (const { practice_group_id, object_id, after } of feed.filter(only)) {
      const key = `${practice_group_id} ${object_id}`;
      types[key] = { ...types[key], ...after };
    }
    return types;
  };
  expect(withoutUntouched(there.settings, feed)).toEqual(folded(({ state }) => state === 'applied'));
  const all = folded(() => true);
  for (const { groupId, keys } of practices) {
    const headers = { 'x-api-key': keys[0] ?? '', 'x-practice-group-id': groupId };
    const { body } = await call('GET', '/v1/care-nav/submission-types', undefined, headers);
    for (const type of body.data) expect(type).toMatchObject(all[`${groupId} ${type.id}`] ?? {});
  }
  // Each answered 200 changed something, unless it was the same value again.
  const rejected = feed.filter(({ state }) => state === 'rejected').length;
  return { ...statuses, kills, changes: feed.length, rejected, deliveries: 'all delivered' };
}

/** A field whose only change was withdrawn is as it was, and so is not in the feed at all. */
function withoutUntouched(settings: Loose, feed: readonly Loose[]): Loose {
  const touched = new Set(
    feed
      .filter(({ state }) => state === 'applied')
      .flatMap(({ practice_group_id, object_id, after }) =>
        Object.keys(after).map((name) => `${practice_group_id} ${object_id} ${name}`),
      ),
  );
  const types: Loose = {};
  for (const [key, fields] of Object.entries(settings) as [string, Loose][]) {
    const kept = Object.entries(fields).filter(([name]) => touched.has(`${key} ${name}`));
    if (kept.length > 0) types[key] = Object.fromEntries(kept);
  }
  return types;
}

type Operator = (method: string, path: string, body?: unknown) => Promise<Loose>;

async function feedOf(operator: Operator, filter = ''): Promise<Loose[]> {
  const all: Loose[] = [];
  for (let cursor = ''; ; ) {
    const page = await operator('GET', `/changes?${filter}page_size=100${cursor}`);
    all.push(...page.data);
    if (!page.has_more) return all;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

async function untilDone<T>(work: () => Promise<T>): Promise<T> {
  let result: { value: T } | undefined;
  await until('it is answered', async () => {
    result = await work().then(
      (value) => ({ value }),
      () => undefined,
    );
    return result !== undefined;
  });
  return (result as unknown as { value: T }).value;
}

/** The example, in a process that may be killed. Its journal stays. */
export async function practiceSoftware(porterUrl: string) {
  const folder = mkdtempSync(join(tmpdir(), 'porter-practice-'));
  const port = await freePort();
  const url = `http://localhost:${port}/porter`;
  let child: ChildProcess | undefined;
  const stop = async () => {
    const running = child;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGKILL');
    await ended;
  };
  onTestFinished(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const shown = async (): Promise<Loose> => (await fetch(`http://127.0.0.1:${port}/`)).json();
  return {
    url,
    shown,
    kill: stop,
    async start(token: string, secrets: readonly string[]): Promise<void> {
      child = spawn(process.execPath, [SOFTWARE], {
        env: {
          PATH: process.env.PATH,
          PORTER_URL: porterUrl,
          PORTER_OPERATOR_TOKEN: token,
          WEBHOOK_SECRETS: secrets.join(','),
          PORT: String(port),
          JOURNAL: join(folder, 'journal.ndjson'),
        },
        stdio: ['ignore', 'ignore', 'inherit'],
      });
      await until('the practice software listens', () =>
        shown().then(
          () => true,
          () => false,
        ),
      );
    },
  };
}
