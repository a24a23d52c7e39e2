import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Agent } from 'undici';
import { expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../../src/store/migrate.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { contents } from '../../support/for-test.ts';
import {
  freePort,
  type Porter,
  spawnPorter,
  startPorter,
  until,
  untilReady,
} from '../../support/porter-process.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { createUpToDateDatabase, type Harness, makeKey, makeWorld, sender } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/**
 * Nodes of this version and of a made-up next one on one database, under traffic. The next one has a function with another text, one
 * with another argument (under a new name), new columns that a row must have, and a column less that this version does not use.
 */

const ROOT = resolve(import.meta.dirname, '../../..');

/** Where its `main.ts` is. */
function makeNextVersion(): string {
  const folder = temporaryFolder();
  for (const part of ['src', 'migrations', 'docs', 'packages/sdk/src', 'package.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const change = (file: string, ...replacements: [string, string][]) => {
    let text = readFileSync(join(folder, file), 'utf8');
    for (const [before, after] of replacements) {
      if (!text.includes(before)) throw new Error(`${file} has no ${before}`);
      text = text.replace(before, after);
    }
    return text;
  };
  const put = (file: string, text: string) => writeFileSync(join(folder, file), text);

  put(
    'migrations/9002_next.sql',
    `ALTER TABLE events ADD COLUMN colour text NOT NULL DEFAULT 'none';
     ALTER TABLE submission_types ADD COLUMN colour text NOT NULL DEFAULT 'none';
     ALTER TABLE deliveries ADD COLUMN colour text NOT NULL DEFAULT 'none';
     ALTER TABLE webhook_lanes ADD COLUMN colour text NOT NULL DEFAULT 'none';
     ALTER TABLE audit_head ADD COLUMN colour text NOT NULL DEFAULT 'none';
     ALTER TABLE practice_groups DROP COLUMN left_over;`,
  );
  const version = `SCHEMA_VERSION = ${SCHEMA_VERSION}`;
  put(
    'src/store/migrate.ts',
    change('src/store/migrate.ts', [version, `SCHEMA_VERSION = ${SCHEMA_VERSION + 1}`]),
  );
  put(
    'src/sql/delivery/record_results.sql',
    change('src/sql/delivery/record_results.sql', [
      "PERFORM set_config('porter.tenant', '*', true);\n",
      `PERFORM set_config('porter.tenant', '*', true);
       UPDATE webhook_lanes l SET colour = 'changed' WHERE l.webhook_no = ANY (lane_nos);\n`,
    ]),
  );
  put(
    'src/sql/delivery/fan_out_2.sql',
    change(
      'src/sql/delivery/fan_out.sql',
      ['FUNCTION fan_out(', 'FUNCTION fan_out_2('],
      ['events_max integer, OUT', 'events_max integer, patience integer, OUT'],
    ),
  );
  put(
    'src/store/events/deliveries.ts',
    change(
      'src/store/events/deliveries.ts',
      ["sqlFunction('fan_out', {", "sqlFunction('fan_out_2', { patience: 'integer',"],
      ['events_max: eventsMax', 'events_max: eventsMax, patience: 1'],
    ),
  );
  return join(folder, 'src/service/main.ts');
}

it('work side by side: nothing is refused, lost or renamed', async () => {
  const databaseUrl = await createUpToDateDatabase();
  const db = await superuser(databaseUrl);
  // What the version before this one would have left behind.
  await db.query("ALTER TABLE practice_groups ADD COLUMN left_over text NOT NULL DEFAULT 'x'");
  const env = {
    DATABASE_URL: databaseUrl,
    PORTER_DATA_DIR: temporaryFolder(),
    PORTER_MASTER_KEY: Buffer.alloc(32, 'm').toString('base64'),
    PORTER_RATE_WINDOWS: 'shared',
  };
  const [first, second] = [
    await startPorter(await freePort(), env),
    await startPorter(await freePort(), env),
  ];
  const agent = new Agent({ connections: 32 });
  const callers = (porter: Porter) => sender(porter.url, agent);
  const house = houseOf(callers(first));
  const { groupId } = await makeWorld(house);
  const world = { groupId, ...(await makeKey(house, groupId, { rate_limit_per_minute: 100_000 })) };
  // Each delivery fails once, so that its name is seen twice, often once on either version.
  const tried = new Set<string>();
  const receiver = await startReceiver({
    behaviour: (response, { headers }) => {
      const id = String(headers['webhook-id']);
      response.writeHead(tried.has(id) ? 200 : 503, { 'retry-after': '1' }).end();
      tried.add(id);
    },
  });
  const webhook = await callers(first)('POST', '/v1/webhooks', {
    ...asPartner(world),
    body: { url: receiver.url },
  });
  expect(webhook.status).toBe(201);

  const traffic = startTraffic(world);
  traffic.useNodes([callers(first), callers(second)]);
  await traffic.rounds(20);

  const next = makeNextVersion();
  const newer = spawnPorter(await freePort(), env, next);
  await untilReady(newer);
  const versions = async () => (await db.query('SELECT version FROM schema_version')).rows[0].version;
  expect(await versions()).toBe(SCHEMA_VERSION + 1);
  traffic.useNodes([callers(first), callers(second), callers(newer)]);
  await traffic.rounds(30);

  // One of the old ones starts again, beside the new schema, and leaves it alone.
  traffic.useNodes([callers(first), callers(newer)]);
  await traffic.rounds(5);
  second.process.kill('SIGTERM');
  await second.exited;
  const before = await functionsOf(databaseUrl);
  const again = await startPorter(await freePort(), env);
  expect(await functionsOf(databaseUrl)).toEqual(before);
  expect(before).toContainEqual(expect.stringContaining('fan_out_2'));
  expect(before).toContainEqual(expect.stringContaining('(fan_out,'));
  traffic.useNodes([callers(again), callers(newer)]);
  await traffic.rounds(5);
  first.process.kill('SIGTERM');
  await first.exited;
  await traffic.rounds(20);
  await traffic.stop();

  expect(traffic.refused).toEqual([]);
  await until(
    () => `all arrive: ${delivered(receiver).size} of ${traffic.published.length}`,
    () => delivered(receiver).size === traffic.published.length,
  );
  const names = delivered(receiver);
  expect(new Set(names.keys())).toEqual(new Set(traffic.published));
  for (const [object, ids] of names) expect(ids.size, object).toBe(1);
  const sequences = new Set(receiver.received.map(({ headers }) => Number(headers['webhook-sequence'])));
  expect(sequences.size).toBe(traffic.published.length);
  expect(Math.max(...sequences)).toBe(traffic.published.length);
  const audit = await callers(again)('GET', '/operator/v1/audit/verify', { token: OPERATOR });
  expect(audit.body.ok).toBe(true);
  const { rows } = await db.query('SELECT DISTINCT colour FROM webhook_lanes');
  expect(rows).toEqual([{ colour: 'changed' }]);
  await agent.close();
});

const OPERATOR = 'pto_kQ9vXr2LwZ8nBf4YcHd7GmUa3SpJe6RtVi5Wo0Nx';
type Call = Harness['send'];
interface World {
  key: string;
  groupId: string;
}

const asPartner = ({ key, groupId }: World) => ({ key, group: groupId });

function houseOf(send: Call): Pick<Harness, 'operator'> {
  return {
    async operator(method, path, body) {
      const answer = await send(method, `/operator/v1${path}`, { token: OPERATOR, body });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
  };
}

/** Publishes, changes and reads on every node, again and again, and notes whatever is not a success. */
function startTraffic(world: World) {
  const published: string[] = [];
  const refused: string[] = [];
  let nodes: Call[] = [];
  let rounds = 0;
  let stopped = false;
  const call = async (send: Call, ...[method, path, options]: Parameters<Call>) => {
    const answer = await send(method, path, options).catch((error: Error) => ({
      status: 0,
      text: error.message,
    }));
    if (answer.status < 200 || answer.status >= 300)
      refused.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.status;
  };
  const once = async (send: Call, node: number) => {
    const id = `object-${rounds}-${node}`;
    published.push(id);
    const event = {
      object: 'Patient',
      id,
      practice_group_id: world.groupId,
      event: 'patient.added-to-sequence',
    };
    await Promise.all([
      call(send, 'POST', '/operator/v1/events', { token: OPERATOR, body: event }),
      call(send, 'PATCH', '/v1/care-nav/submission-types/type-1', {
        ...asPartner(world),
        body: { title: id },
      }),
      call(send, 'GET', '/v1/practice-groups', asPartner(world)),
      call(send, 'GET', '/v1/events', asPartner(world)),
      call(send, 'GET', '/v1/webhooks', asPartner(world)),
    ]);
  };
  const running = (async () => {
    while (!stopped) {
      await Promise.all(nodes.map(once));
      rounds++;
    }
  })();
  return {
    published,
    refused,
    useNodes(now: Call[]) {
      nodes = now;
    },
    /** So many more, and the one that is under way. */
    async rounds(count: number) {
      const end = rounds + count + 1;
      await until('rounds of traffic', () => rounds >= end);
    },
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** For each object, the names under which it was received. */
function delivered({ received }: Receiver): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  for (const { body, headers } of received) {
    const { id } = JSON.parse(body);
    names.set(id, (names.get(id) ?? new Set()).add(String(headers['webhook-id'])));
  }
  return names;
}

async function functionsOf(databaseUrl: string): Promise<string[]> {
  return (await contents(databaseUrl)).sql_functions ?? [];
}
