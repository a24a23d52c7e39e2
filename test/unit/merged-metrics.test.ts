import { expect, it } from 'vitest';
import { countersOf, mergeMetrics } from '../../src/platform/merged-metrics.ts';

const metrics = ({
  calls,
  memory,
  queue,
  skew,
}: Record<'calls' | 'memory' | 'queue' | 'skew', number>) => `# HELP porter_calls_total Calls.
# TYPE porter_calls_total counter
porter_calls_total{operation="a b",error="x"} ${calls}
# HELP porter_seconds Time.
# TYPE porter_seconds histogram
porter_seconds_bucket{le="1"} ${calls}
porter_seconds_bucket{le="+Inf"} ${calls + 1}
porter_seconds_sum ${calls / 2}
porter_seconds_count ${calls + 1}
# HELP porter_process_resident_bytes Memory.
# TYPE porter_process_resident_bytes gauge
porter_process_resident_bytes ${memory}
# HELP porter_delivery_queue Queue.
# TYPE porter_delivery_queue gauge
porter_delivery_queue{state="new"} ${queue}
# HELP porter_clock_skew_seconds Skew.
# TYPE porter_clock_skew_seconds gauge
porter_clock_skew_seconds ${skew}
`;

const one = metrics({ calls: 3, memory: 100, queue: 7, skew: -0.5 });
const other = metrics({ calls: 10, memory: 200, queue: 7, skew: 0.1 });

it('adds up what is counted and what each has a part of; of what all tell, the worst', () => {
  expect(mergeMetrics([one, '', other])).toBe(
    `${metrics({ calls: 13, memory: 300, queue: 7, skew: -0.5 })}`
      .replace('le="+Inf"} 14', 'le="+Inf"} 15')
      .replace('seconds_count 14', 'seconds_count 15'),
  );
  expect(mergeMetrics([one])).toBe(one);
});

it('has a series that only one of them has', () => {
  const more = one.replace('error="x"', 'error="y"');
  expect(mergeMetrics([one, more])).toContain(
    'porter_calls_total{operation="a b",error="x"} 3\nporter_calls_total{operation="a b",error="y"} 3\n',
  );
});

it('keeps of one that ended what only ever grows', () => {
  const merged = mergeMetrics([other, countersOf(one)]);
  expect(merged).toContain('porter_calls_total{operation="a b",error="x"} 13\n');
  expect(merged).toContain('porter_seconds_count 15\n');
  expect(merged).toContain('porter_process_resident_bytes 200\n');
});
