import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { request } from 'undici';
import { createLogger } from '../src/platform/logger.ts';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded.ts';
import { startService } from '../src/service/compose.ts';
import { readConfig } from '../src/service/config.ts';
import { inTurns, ratioLine, say } from './measure.ts';

/** Import: lines through the service, against COPY of the same rows from files of the server, keys and foreign keys included. */

const GROUPS = Number(process.env.BENCH_IMPORT_GROUPS ?? 500);
const OPERATOR = 'bench-operator-token';
const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'data'), log: () => {} });
const service = await startService(
  readConfig(
    {
      DATABASE_URL: postgres.serviceUrl,
      PORTER_MIGRATION_DATABASE_URL: postgres.url,
      PORTER_PORT: '0',
      PORTER_OPERATOR_TOKEN: OPERATOR,
      PORTER_DEMO: 'off',
      PORTER_DATA_DIR: join(folder, 'x'),
    },
    folder,
  ),
  { log: createLogger(() => {}) },
);
const adminUrl = new URL(postgres.adminUrl);
adminUrl.pathname = new URL(postgres.url).pathname;
const admin = new pg.Client({ connectionString: adminUrl.href });
await admin.connect();
await admin.query("SET porter.tenant = '*'");

const HOURS = { mon: [['08:00', '18:30']], tue: [['08:00', '18:30']] };

/** A practice with 5 forms, 4 assignees and 10 submission types that use them. */
function practice(id: string): Record<string, unknown>[] {
  const of = { practice_group_id: id, source_version: 1 };
  return [
    { kind: 'practice_group', id, source_version: 1, name: `Practice ${id}`, opening_hours: HOURS },
    ...Array.from({ length: 5 }, (_, n) => ({ kind: 'form', id: `form-${n}`, ...of, title: `Form ${n}` })),
    ...Array.from({ length: 4 }, (_, n) => ({
      kind: 'assignee',
      id: `desk-${n}`,
      assignee_type: 'AdminTeam',
      ...of,
      name: `Desk ${n}`,
    })),
    ...Array.from({ length: 10 }, (_, n) => ({
      kind: 'submission_type',
      id: `type-${n}`,
      ...of,
      pathway_id: `pathway-${n}`,
      title: `Type ${n}`,
      description: 'What patients ask for most often in the morning.',
      form_id: `form-${n % 5}`,
      assignee_id: `desk-${n % 4}`,
      assignee_type: 'AdminTeam',
      daily_limit: 40,
      order: n,
    })),
  ];
}

const TABLES = ['practice_groups', 'forms', 'assignees', 'submission_types'];
/** Nothing is left of the turn before, and none of them meets fuller tables than the other. */
const clear = async () => {
  await admin.query(`TRUNCATE ${TABLES.join(', ')}, removed_items CASCADE`);
  await admin.query('CHECKPOINT');
};

try {
  const ids = Array.from({ length: GROUPS }, (_, n) => `practice-${n}`);
  const items = ids.flatMap(practice);
  const body = Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));

  const imported = async (): Promise<number> => {
    await clear();
    const start = performance.now();
    const answer = await request(`${service.url}/operator/v1/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPERATOR}`, 'content-type': 'application/x-ndjson' },
      body,
    });
    const text = await answer.body.text();
    const seconds = (performance.now() - start) / 1_000;
    if (text.match(/"created"/g)?.length !== items.length) throw new Error(text.slice(0, 500));
    return items.length / seconds;
  };

  say(`import of ${items.length} items`);
  await imported();
  // Where the server's own user may write.
  const { rows } = await admin.query<{ data_directory: string }>('SHOW data_directory');
  const copyOf = (table: string) => `${rows[0]?.data_directory}/${table}.copy`;
  for (const table of TABLES) await admin.query(`COPY ${table} TO '${copyOf(table)}'`);
  const copied = async (): Promise<number> => {
    await clear();
    const start = performance.now();
    await admin.query('BEGIN');
    for (const table of TABLES) await admin.query(`COPY ${table} FROM '${copyOf(table)}'`);
    await admin.query('COMMIT');
    return items.length / ((performance.now() - start) / 1_000);
  };
  const samples = await inTurns({ imported, copied }, { rounds: 9, warmUps: 2 });
  ratioLine('import of lines to COPY of the same rows', samples, 'imported', 'copied', '≥ 0.3', 'items/s');
} finally {
  await admin.end();
  await service.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
