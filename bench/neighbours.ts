import { type Beside, measureLatency } from './latency.ts';
import { inTurns, percentile, ratioLine, say, valueLine } from './measure.ts';
import { openPaceRig } from './pace-rig.ts';

/** What a webhook that is well notices of others: from publishing to receipt, 200 events a second. */

const CROWD = 5_000;

const rig = await openPaceRig();

try {
  const latencies = async (options: Beside) =>
    (await rig.measure((url, origin) => measureLatency(url, origin, options))).latencies;
  const p99 = (options: Beside) => async () => percentile(await latencies(options), 0.99);

  say('from publishing to receipt, 200 events/s, beside 50 webhooks that hang');
  // Many rounds: the p99 of one is a single stall of the machine as often as not.
  const hanging = await inTurns(
    { beside: p99({ hanging: true }), without: p99({}) },
    { rounds: Number(process.env.BENCH_ROUNDS ?? 27), warmUps: 1 },
  );
  ratioLine('p99 beside 50 hanging webhooks, to without', hanging, 'beside', 'without', '≤ 1.3', 'ms');

  say('the same beside a host that comes back to its backlog, with one webhook or with 500');
  const returned = await inTurns(
    { one: p99({ returning: 1 }), many: p99({ returning: 500 }), without: p99({}) },
    { rounds: Number(process.env.BENCH_ROUNDS ?? 9), warmUps: 1 },
  );
  const of = 'p99 beside a backlog of 20,000 that goes out';
  ratioLine(`${of}, to without`, returned, 'one', 'without', '≤ 1.3', 'ms');
  ratioLine(`${of} to 500 webhooks, to without`, returned, 'many', 'without', '≤ 1.3', 'ms');

  say(`the same spread over ${CROWD} webhooks`);
  const crowd = await latencies({ crowd: CROWD });
  valueLine(
    `publish to received, 200 events/s to ${CROWD} webhooks, p95`,
    `${percentile(crowd, 0.95).toFixed(0)} ms`,
    '',
    `p50 ${percentile(crowd, 0.5).toFixed(1)} ms, ${crowd.length} events`,
  );
} finally {
  await rig.close();
}
