import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { Agent, request } from 'undici';
import { inject } from 'vitest';
import { scopeNames } from '../../src/contract/access.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { type Service, startService } from '../../src/service/compose.ts';
import { readConfig } from '../../src/service/config.ts';
import { afterFile, afterwards, temporaryFolder } from './afterwards.ts';
import { ManualClock } from './manual-clock.ts';
import { recordCall } from './recorded-calls.ts';
import { isInMemory } from './scratch.ts';
import { superuser } from './superuser.ts';

/** A real service on a real port, on a database of its own, with a clock that the test moves. */

export const OPERATOR_TOKEN = 'pto_kQ9vXr2LwZ8nBf4YcHd7GmUa3SpJe6RtVi5Wo0Nx';
/** The same on every node, as several nodes on one database must have it. */
export const MASTER_KEY = createHash('sha256').update('master').digest('base64');

/** JSON of any shape: a test states what it expects of it. */
export type Loose = ReturnType<typeof JSON.parse>;

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;

  body: Loose;
}

export interface Send {
  key?: string | undefined;
  group?: string | undefined;
  token?: string;
  body?: unknown;
  /** Bytes to send as they are, instead of `body` as JSON. */
  raw?: string | Buffer;
  /** A header that is undefined is not sent, such as `origin` for a request that no browser makes. */
  headers?: Record<string, string | undefined>;
}

export interface Harness {
  service: Service;
  clock: ManualClock;
  url: string;
  databaseUrl: string;
  /** Every log line so far, parsed. */
  logLines: () => Record<string, unknown>[];
  send(method: string, path: string, options?: Send): Promise<Answer>;
  /** A call of the first operator; fails the test unless the status is a success. */
  operator(method: string, path: string, body?: unknown): Promise<Answer['body']>;
  stop(): Promise<void>;
}

let admins: pg.Pool | undefined;

/** Kept, since every file of this process makes databases. */
function adminsOf(connectionString: string): pg.Pool {
  admins ??= new pg.Pool({ connectionString, allowExitOnIdle: true }).on('error', () => {});
  return admins;
}

export async function createDatabase(template = 'template1'): Promise<string> {
  const admin = inject('postgresUrl');
  const name = `t_${randomBytes(8).toString('hex')}`;
  const pool = adminsOf(admin);
  // File by file takes less than half the processor time of the usual way, page by page and through the write-ahead log.
  await pool.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  // On a disk they go all together with the server, which is quicker; memory is smaller.
  if (isInMemory) afterFile(() => pool.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  const url = new URL(admin);
  url.pathname = name;
  return url.href;
}

/** With all tables, and nothing in them. */
export const createUpToDateDatabase = () => createDatabase(inject('upToDate'));

interface HarnessOptions {
  env?: Record<string, string>;
  clock?: ManualClock;
  databaseUrl?: string;
}

/** Starts a service, which is stopped afterwards. */
export async function startHarness(options: HarnessOptions = {}): Promise<Harness> {
  const databaseUrl = options.databaseUrl ?? (await createUpToDateDatabase());
  const clock = options.clock ?? new ManualClock();
  const folder = temporaryFolder();
  const lines: string[] = [];
  const config = readConfig(
    {
      DATABASE_URL: databaseUrl,
      PORTER_PORT: '0',
      PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN,
      PORTER_DEMO: 'off',
      PORTER_RATE_WINDOWS: 'memory',
      PORTER_MASTER_KEY: MASTER_KEY,
      PORTER_DATA_DIR: folder,
      ...options.env,
    },
    folder,
  );
  const service = await startService(config, { log: createLogger((line) => lines.push(line)), clock });
  const agent = new Agent({ connections: 64, connect: { rejectUnauthorized: false } });
  const send = sender(service.url, agent);

  let stopped = false;
  const harness: Harness = {
    service,
    clock,
    url: service.url,
    databaseUrl,
    logLines: () => lines.map((line) => JSON.parse(line)),
    send,
    async operator(method, path, body) {
      const answer = await send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });
      if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
      return answer.body;
    },
    async stop() {
      if (stopped) return;
      stopped = true;
      await agent.close();
      await service.stop();
    },
  };
  afterwards(() => harness.stop());
  return harness;
}

export function sender(base: string, dispatcher: Agent): Harness['send'] {
  return async (method, path, { key, group, token, body, raw, headers } = {}) => {
    const payload = raw ?? (body === undefined ? null : JSON.stringify(body));
    const sent = {
      ...(key !== undefined && { 'x-api-key': key }),
      ...(group !== undefined && { 'x-practice-group-id': group }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(payload !== null && { 'content-type': 'application/json' }),
      // As browsers do.
      ...(headers?.cookie !== undefined && method !== 'GET' && { origin: new URL(base).origin }),
      ...headers,
    };
    const response = await request(base + path, {
      method: method as 'GET',
      dispatcher,
      headers: sent,
      body: payload,
    });
    const text = await response.body.text();
    const answer = { status: response.statusCode, headers: response.headers };
    recordCall({ method, path, headers: sent, body: payload, answer: { ...answer, body: text } });
    return { ...answer, text, body: parse(text) };
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface World {
  partnerId: string;
  key: string;
  keyId: string;
}

let worlds = 0;

/** A practice group with a few settings, a verified partner, and a key with every scope. */
export async function makeWorld(
  { operator }: Pick<Harness, 'operator'>,
  groupId = `group-${++worlds}`,
): Promise<World & { groupId: string }> {
  await operator('POST', '/practice-groups', { id: groupId, name: `Practice ${groupId}` });
  await operator('PUT', `/practice-groups/${groupId}/forms/form-1`, { title: 'Form' });
  await operator('PUT', `/practice-groups/${groupId}/assignees/Admin/ann`, { name: 'Ann' });
  await operator('PUT', `/practice-groups/${groupId}/assignees/AdminTeam/desk`, { name: 'Desk' });
  await operator('POST', `/practice-groups/${groupId}/submission-types`, {
    id: 'type-1',
    pathway_id: 'pathway-1',
    title: 'Type one',
  });
  return { groupId, ...(await makeKey({ operator }, groupId)) };
}

/**
 * What most files begin with: a service, a world in it, and a connection past both. At the top of the file and with `await`, so that
 * what it gives is there when the first test is described, with its type and for good.
 */
export async function serviceForTests(options: HarnessOptions = {}) {
  const house = await startHarness(options);
  return { house, world: await makeWorld(house), db: await superuser(house.databaseUrl) };
}

export async function makeKey(
  { operator }: Pick<Harness, 'operator'>,
  groupId: string,
  options: Record<string, unknown> = {},
): Promise<World> {
  const partner = await operator('POST', '/partners', {
    name: 'Partner',
    contact_email: 'dev@partner.example',
  });
  await operator('POST', `/partners/${partner.id}/sign-agreement`);
  await operator('POST', `/partners/${partner.id}/verify`);
  const issued = await operator('POST', '/keys', {
    partner_id: partner.id,
    practice_group_id: groupId,
    scopes: scopeNames,
    ...options,
  });
  return { partnerId: partner.id, key: issued.key, keyId: issued.id };
}
