import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { type Entered, takeEntered } from './entered.ts';
import { valueLine } from './measure.ts';

/**
 * The two walks of ARCHITECTURE.md, on a service that is warm: what runs between a request and its response, and between the publishing of an event
 * and the arrival of its signed request. Prints the functions in the order of their first call and measures what a reader has to read.
 */

/** Only what runs in each of the rounds belongs to the walk. Timers and other background work do not. */
const ROUNDS = 8;
const WARM_UPS = 20;
const OPERATOR = 'bench-operator-token';
const operator = { authorization: `Bearer ${OPERATOR}` };

// Loaded after the hook that records what runs.
const { scopeNames } = await import('../src/contract/access.ts');
const { createLogger } = await import('../src/platform/logger.ts');
const { startService } = await import('../src/service/compose.ts');
const { readConfig } = await import('../src/service/config.ts');
const { readSqlFunctions } = await import('../src/store/sql-functions.ts');
const sqlTexts = await readSqlFunctions();
const sent = statementsSent();

const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
const service = await startService(
  readConfig(
    {
      PORTER_PORT: '0',
      PORTER_DATA_DIR: folder,
      PORTER_OPERATOR_TOKEN: OPERATOR,
      PORTER_DEMO: 'off',
    },
    folder,
  ),
  { log: createLogger(() => {}) },
);
let arrived = () => {};
const receiver = createServer((request, response) => {
  request.resume().once('end', () => {
    arrived();
    response.end();
  });
}).listen(0, '127.0.0.1');

try {
  await once(receiver, 'listening');
  const caller = await makeCaller();
  const { port } = receiver.address() as AddressInfo;
  await call('POST', '/v1/webhooks', caller, { url: `http://127.0.0.1:${port}/` });
  let calls = 0;
  await report('a PATCH', () =>
    call('PATCH', '/v1/care-nav/submission-types/type', caller, { title: `Title ${++calls}` }),
  );
  await report('an event', async () => {
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const id = `appointment-${++calls}`;
    const event = { object: 'Appointment', id, practice_group_id: 'group', event: 'appointment.confirmed' };
    await call('POST', '/operator/v1/events', operator, event);
    await arrival;
  });
} finally {
  receiver.close();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function report(name: string, walk: () => Promise<unknown>): Promise<void> {
  for (let n = 0; n < WARM_UPS; n++) await walk();
  let functions: Entered[] | undefined;
  let statements: string[] = [];
  for (let n = 0; n < ROUNDS; n++) {
    // Lets the previous walk finish its background work.
    await pause(50);
    takeEntered();
    sent.clear();
    await walk();
    const ran = takeEntered();
    functions = functions?.filter((one) => ran.includes(one)) ?? ran;
    statements = n === 0 ? [...sent] : statements.filter((one) => sent.has(one));
  }
  const inTypeScript = functions ?? [];
  const inSql = sqlFunctionsIn(statements.join('\n'));
  const read = new Set(
    inTypeScript.flatMap(({ file, from, to }) =>
      Array.from({ length: to - from + 1 }, (_, n) => `${file}:${from + n}`),
    ),
  );
  const sqlLines = inSql.reduce((sum, sql) => sum + (sqlTexts.get(sql)?.split('\n').length ?? 0), 0);
  process.stdout.write(`${name}:\n`);
  for (const { file, name } of inTypeScript) process.stdout.write(`  ${file} ${name}\n`);
  for (const sql of inSql) process.stdout.write(`  ${sql}()\n`);
  const files = new Set(inTypeScript.map(({ file }) => file));
  valueLine(
    `lines of the functions that ${name} enters`,
    String(read.size + sqlLines),
    '-',
    `${inTypeScript.length} functions, ${inSql.length} in SQL with ${sqlLines} lines`,
  );
  valueLine(`files that ${name} enters`, String(files.size + inSql.length), '-', 'listed above');
  valueLine(
    `returns of ${name} to an earlier file`,
    String(returns(inTypeScript)),
    '-',
    'in the order of first calls',
  );
}

/** How often the next function stands in a file that the reader has already left. */
function returns(functions: readonly Entered[]): number {
  const left = new Set<string>();
  let count = 0;
  functions.forEach(({ file }, index) => {
    const before = functions[index - 1]?.file;
    if (before === file) return;
    if (before) left.add(before);
    if (left.has(file)) count++;
  });
  return count;
}

/** The SQL functions that a text calls, directly or through each other. */
function sqlFunctionsIn(text: string): string[] {
  const found = new Set<string>();
  const search = (within: string) => {
    for (const [name, body] of sqlTexts)
      if (!found.has(name) && new RegExp(`\\b${name}\\b\\s*\\(`).test(within)) {
        found.add(name);
        search(body.replaceAll(/--.*/g, ''));
      }
  };
  search(text);
  return [...found];
}

async function call(
  method: string,
  path: string,
  headers: Record<string, string>,
  body: object = {},
): Promise<{ id: string; key: string }> {
  const answer = await fetch(service.url + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer.json() as Promise<{ id: string; key: string }>;
}

/** The headers of a partner of a practice group with one submission type. */
async function makeCaller(): Promise<Record<string, string>> {
  const ask = (path: string, body?: object) => call('POST', `/operator/v1${path}`, operator, body);
  await ask('/practice-groups', { id: 'group', name: 'Practice' });
  await ask('/practice-groups/group/submission-types', { id: 'type', pathway_id: 'pathway', title: 'Type' });
  const { id } = await ask('/partners', { name: 'Bench', contact_email: 'bench@partner.example' });
  for (const step of ['sign-agreement', 'verify']) await ask(`/partners/${id}/${step}`);
  const { key } = await ask('/keys', { partner_id: id, practice_group_id: 'group', scopes: scopeNames });
  return { 'x-api-key': key, 'x-practice-group-id': 'group' };
}

/** Every statement that a connection executes from now on. A prepared statement is bound by the name under which it was parsed. */
function statementsSent(): Set<string> {
  const { Connection } = pg as unknown as { Connection: { prototype: Wire } };
  const texts = new Map<string, string>();
  const sent = new Set<string>();
  const { parse, bind, query } = Connection.prototype;
  Connection.prototype.parse = function (this: Wire, statement, ...more) {
    texts.set(statement.name ?? '', statement.text);
    return parse.call(this, statement, ...more);
  };
  Connection.prototype.bind = function (this: Wire, config, ...more) {
    sent.add(texts.get(config.statement ?? '') ?? '');
    return bind.call(this, config, ...more);
  };
  Connection.prototype.query = function (this: Wire, text) {
    sent.add(text);
    return query.call(this, text);
  };
  return sent;
}

interface Wire {
  parse(statement: { name?: string; text: string }, ...more: unknown[]): unknown;
  bind(config: { statement?: string }, ...more: unknown[]): unknown;
  query(text: string): unknown;
}
