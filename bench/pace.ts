import { measureBareChain, measureLatency, type Pace } from './latency.ts';
import { inTurns, median, percentile, ratioLine, say, valueLine } from './measure.ts';
import { openPaceRig } from './pace-rig.ts';

/** From publishing to receipt at a calm pace: 200 events a second, one by one, to one webhook. */

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);

const rig = await openPaceRig();

try {
  const runs: Pace[] = [];
  const p95 = async (measure: (url: string, origin: string) => Promise<Pace>) => {
    const pace = await rig.measure(measure);
    runs.push(pace);
    return percentile(pace.latencies, 0.95);
  };
  say('from publishing to receipt, 200 events/s, and a bare chain');
  const samples = await inTurns(
    {
      service: () => p95((url, origin) => measureLatency(url, origin, { lone: true })),
      bare: () => p95(measureBareChain),
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
  await rig.close();
}
