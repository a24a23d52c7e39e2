import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify from 'fastify';
import pg from 'pg';
import { Problem } from '../src/contract/problems.ts';
import { applyPatch, type StoredSubmissionType } from '../src/domain/practices/submission-type.ts';
import type { App } from '../src/operations/app.ts';
import { systemClock } from '../src/platform/clock.ts';
import { createLogger } from '../src/platform/logger.ts';
import { gatherUpdates } from '../src/runtime/practices/submission-type-updates.ts';
import { startService } from '../src/service/compose.ts';
import { readConfig } from '../src/service/config.ts';
import type { Database } from '../src/store/database.ts';
import { hostsOf } from '../src/store/hosts.ts';
import { OPERATOR } from './world.ts';

/**
 * What is measured, each in a process of its own: `node bench/targets.ts <variant>`. It prints its port when ready.
 *
 *   service   Porter as it is
 *   usual     Porter's routes, but every PATCH is a transaction of its own, statement after statement
 *   constant  Porter as it is, but PostgreSQL answers every update with the same: what the rest of the path costs
 *   bare      Fastify routes that send the same bytes as the GET and as the publishing of an event, headers included, and do nothing else
 */
const [variant = '', databaseUrl = '', bytes = ''] = process.argv.slice(2);

type Submit = App['updates']['submit'];

async function serve(): Promise<number> {
  if (variant === 'bare') {
    const server = Fastify();
    const { headers, body } = JSON.parse(bytes) as { headers: Record<string, string>; body: string };
    server.get('/v1/practice-groups', (_request, reply) => {
      reply.headers(headers).send(body);
    });
    server.post('/operator/v1/events', (_request, reply) => {
      reply.code(202).headers(headers).send(body);
    });
    await server.listen({ port: 0 });
    return portOf(server.server.address());
  }
  const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
  const env = {
    DATABASE_URL: databaseUrl,
    PORTER_PORT: '0',
    PORTER_OPERATOR_TOKEN: OPERATOR,
    PORTER_DATA_DIR: folder,
    PORTER_DEMO: 'off',
    PORTER_RATE_WINDOWS: 'memory',
  };
  const service = await startService(readConfig(env, folder), { log: createLogger(() => {}) });
  if (variant === 'usual') service.app.updates = { submit: oneTransactionEach() };
  if (variant === 'constant')
    service.app.updates = gatherUpdates({ db: constantDatabase(), clock: systemClock, changed: () => {} });
  return portOf(service.server.address());
}

/** The usual way: a pool, BEGIN, read for update, decide, write, audit, COMMIT, each awaited. */
function oneTransactionEach(): Submit {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 16 });
  return async (update) => {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const found = await client.query<StoredSubmissionType>({
        name: 'find',
        text: 'SELECT * FROM submission_types WHERE practice_group_id = $1 AND id = $2 FOR UPDATE',
        values: [update.principal.group.id, update.id],
      });
      const row = found.rows[0];
      if (!row) throw new Problem('not_found');
      const now = new Date().toISOString();
      const result = applyPatch(row, update.patch, { hasForm: () => true, hasAssignee: () => true }, now);
      if (result.outcome === 'refused') throw new Problem('business_rule_violation');
      const next = result.outcome === 'changed' ? result.next : row;
      await client.query({
        name: 'update',
        text: `UPDATE submission_types SET title = $3, description = $4, suspended = $5, version = $6, updated_at = $7
                WHERE practice_group_id = $1 AND id = $2`,
        values: [
          next.practice_group_id,
          next.id,
          next.title,
          next.description,
          next.suspended,
          next.version,
          next.updated_at,
        ],
      });
      await client.query({
        name: 'audit',
        text: `INSERT INTO bench_audit (at, actor_id, action, subject_id, practice_group_id, body)
               VALUES ($1, $2, 'submission_type.update', $3, $4, $5)`,
        values: [now, update.principal.holder.keyId, next.id, next.practice_group_id, JSON.stringify(result)],
      });
      await client.query('COMMIT');
      return { type: { ...next, created_at: now }, submittedToday: 0 };
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  };
}

/** A database that holds every row that it is asked for, and takes every change, at once. */
function constantDatabase(): Database {
  const now = new Date().toISOString();
  const row = {
    ...{
      pathway_id: 'p',
      form_id: null,
      title: 't',
      description: 'd'.repeat(200),
      in_hours: true,
      suspended: false,
    },
    ...{
      out_of_hours: true,
      external_url: null,
      external_url_name: null,
      type: null,
      default_priority: 'medium',
    },
    ...{
      daily_limit: null,
      patient_eligibility_check: false,
      assignee_id: null,
      assignee_type: null,
      order: null,
    },
    ...{ version: 1, created_at: now, updated_at: now, submitted_today: 0 },
  };
  const answer = (text: string, values: unknown[]): unknown[] => {
    const list = (index: number) => values[index] as string[];
    if (text.includes('change_submission_types')) {
      const ids = (values[3] as string).split('\n');
      return [{ written: ids.map((_, index) => index + 1), submitted: ids.map(() => 0) }];
    }
    if (text.includes('unnest'))
      return list(0).map((g, i) => ({ ...row, practice_group_id: g, id: list(1)[i] }));
    return [];
  };
  const client = {
    query: async ({ text, values }: { text: string; values: unknown[] }) => ({
      command: text,
      rows: answer(text, values),
    }),
    release: () => {},
    once: () => {},
  };
  const pool = { connect: async () => client, options: {} } as unknown as Database['pool'];
  return { pool, hosts: hostsOf('postgres://nowhere') };
}

function portOf(address: ReturnType<import('node:net').Server['address']>): number {
  return typeof address === 'object' && address ? address.port : 0;
}

process.stdout.write(`${await serve()}\n`);
