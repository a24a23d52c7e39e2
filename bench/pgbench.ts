import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { isInstalled } from './installed.ts';

const CLIENTS = 16;

/** The statements of the gathered write, one transaction for each change. `:n` is the row. */
const SCRIPT = `\\set n random(1, :rows)
\\set g :n % :groups
BEGIN;
UPDATE submission_types SET title = 'title ' || random(), version = version + 1, updated_at = now()
 WHERE practice_group_id = 'bench-' || :g::int AND id = 'type-' || :n::int;
INSERT INTO bench_audit (at, actor_id, action, subject_id, practice_group_id, body)
VALUES (now(), 'key_bench', 'submission_type.update', 'type-' || :n::int, 'bench-' || :g::int, repeat('x', 330));
END;
`;

export const hasPgbench = () => isInstalled('pgbench', '--version');

export interface Ceiling {
  adminUrl: string;
  folder: string;
  rows: number;
  groups: number;
  seconds: number;
}

/** One event a transaction: what publishing would cost without batches. */
const EVENT_SCRIPT = `INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
VALUES (gen_random_uuid()::text, 'group', 'appointment.confirmed', 'appointment', 1,
        '{"object":"Appointment","id":"appointment-1","practice_group_id":"group","event":"appointment.confirmed"}', 'bench', now());
`;

export async function insertEvents({
  adminUrl,
  folder,
  seconds,
}: Pick<Ceiling, 'adminUrl' | 'folder' | 'seconds'>) {
  return hasPgbench()
    ? pgbench(join(folder, 'events.sql'), EVENT_SCRIPT, ['-T', String(seconds), adminUrl])
    : inserts(adminUrl, seconds);
}

/** Transactions a second by pgbench, or by a bare driver loop where pgbench is not installed. */
export function ceiling(options: Ceiling): Promise<number> {
  return hasPgbench() ? runPgbench(options) : runDriverLoop(options);
}

function runPgbench({ adminUrl, folder, rows, groups, seconds }: Ceiling): Promise<number> {
  const variables = ['-D', `rows=${rows}`, '-D', `groups=${groups}`];
  return pgbench(join(folder, 'update.sql'), SCRIPT, ['-T', String(seconds), ...variables, adminUrl]);
}

async function pgbench(file: string, script: string, options: string[]): Promise<number> {
  writeFileSync(file, script);
  const usual = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-j', '2'];
  const { stdout } = await promisify(execFile)('pgbench', [...usual, '-f', file, ...options]);
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}

function runDriverLoop({ adminUrl, rows, groups, seconds }: Ceiling): Promise<number> {
  return driverLoop(adminUrl, seconds, async (client) => {
    const n = 1 + Math.floor(Math.random() * rows);
    await client.query('BEGIN');
    await client.query(oneUpdate(n, groups));
    await client.query(oneAudit(n, groups));
    await client.query('COMMIT');
  });
}

function inserts(adminUrl: string, seconds: number): Promise<number> {
  return driverLoop(adminUrl, seconds, (client) => client.query({ name: 'bench-event', text: EVENT_SCRIPT }));
}

async function driverLoop(url: string, seconds: number, work: (client: pg.Client) => Promise<unknown>) {
  const until = performance.now() + seconds * 1000;
  let done = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      for (; performance.now() < until; done++) await work(client);
      await client.end();
    }),
  );
  return done / seconds;
}

const oneUpdate = (n: number, groups: number) => ({
  name: 'bench-update',
  text: `UPDATE submission_types SET title = $3, version = version + 1, updated_at = now()
          WHERE practice_group_id = $1 AND id = $2`,
  values: [`bench-${n % groups}`, `type-${n}`, `title ${Math.random()}`],
});

const oneAudit = (n: number, groups: number) => ({
  name: 'bench-audit',
  text: `INSERT INTO bench_audit (at, actor_id, action, subject_id, practice_group_id, body)
         VALUES (now(), 'key_bench', 'submission_type.update', $1, $2, $3)`,
  values: [`type-${n}`, `bench-${n % groups}`, 'x'.repeat(330)],
});

/** The two as one statement: what a single caller's write costs at the very least. */
export const oneStatement = (n: number, groups: number) => ({
  name: 'bench-both',
  text: `WITH changed AS (
           UPDATE submission_types SET title = $3, version = version + 1, updated_at = now()
            WHERE practice_group_id = $1 AND id = $2 RETURNING id, practice_group_id)
         INSERT INTO bench_audit (at, actor_id, action, subject_id, practice_group_id, body)
         SELECT now(), 'key_bench', 'submission_type.update', id, practice_group_id, $4 FROM changed`,
  values: [`bench-${n % groups}`, `type-${n}`, `title ${Math.random()}`, 'x'.repeat(330)],
});

/** An audit table with the same columns and indexes, but no chain: what the usual design would have. */
export const AUDIT_TABLE = `
  CREATE TABLE bench_audit (seq bigserial PRIMARY KEY, at timestamptz, actor_id text, action text, subject_id text,
                            practice_group_id text, body text, hash bytea);
  CREATE INDEX ON bench_audit (practice_group_id, seq) WHERE practice_group_id IS NOT NULL;`;
