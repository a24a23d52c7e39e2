import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/platform/postgres/embedded.ts';
import { measureBareChain, measureLatency, type Pace } from './latency.ts';
import { inTurns, median, percentile, ratioLine, say, valueLine } from './measure.ts';

/** From publishing to receipt at a calm pace: 200 events a second, one by one, to one webhook. */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);

const folder = mkdtempSync(join(tmpdir(), 'porter-bench-'));
const postgres = await startEmbeddedPostgres({
  dataDir: join(folder, 'data'),
  log: () => {},
  settings: { max_connections: '200', shared_preload_libraries: 'pg_stat_statements' },
});
const receiver = spawn(process.execPath, ['bench/receiver.ts'], { stdio: ['ignore', 'pipe', 'inherit'] });

try {
  const [port] = await once(receiver.stdout, 'data');
  const origin = `http://127.0.0.1:${Number(port)}`;
  const runs: Pace[] = [];
  const p95 = async (measure: (url: string) => Promise<Pace>) => {
    const pace = await inFreshDatabase(measure);
    runs.push(pace);
    return percentile(pace.latencies, 0.95);
  };
  say('from publishing to receipt, 200 events/s, and a bare chain');
  const samples = await inTurns(
    {
      service: () => p95((url) => measureLatency(url, origin, { lone: true })),
      bare: () => p95((url) => measureBareChain(url, origin)),
    },
    { rounds: ROUNDS, warmUps: 1 },
  );
  const [services, chains] = [0, 1].map((kind) => runs.filter((_, run) => run > 1 && run % 2 === kind));
  const spread = (of: Pace[] = []) =>
    [0.5, 0.95, 0.99]
      .map((share) => median(of.map(({ latencies }) => percentile(latencies, share))).toFixed(1))
      .join(' / ');
  ratioLine(
    'publish to received, 200 events/s, p95, to a bare chain',
    samples,
    'service',
    'bare',
    '≤ 2.0',
    'ms',
  );
  valueLine(
    'the same, p95',
    `${median(samples.service ?? []).toFixed(1)} ms`,
    '≤ 5 ms',
    `p50 / p95 / p99 ${spread(services)} ms, the bare chain ${spread(chains)}`,
  );
  const statements = median((services ?? []).map((pace) => pace.statements));
  valueLine('SQL statements for each event at 200/s', statements.toFixed(2), '≤ 3', 'pg_stat_statements');
} finally {
  receiver.kill('SIGKILL');
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function inFreshDatabase(measure: (url: string) => Promise<Pace>): Promise<Pace> {
  const admin = new pg.Client({ connectionString: postgres.adminUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE pace');
  const url = new URL(postgres.adminUrl);
  url.pathname = 'pace';
  const inside = new pg.Client({ connectionString: url.href });
  await inside.connect();
  await inside.query('CREATE EXTENSION pg_stat_statements');
  await inside.end();
  const pace = await measure(url.href);
  // Or the server goes on to tidy up in each of them once a minute, while the next is measured.
  await admin.query('DROP DATABASE pace');
  await admin.end();
  return pace;
}
