import { describe, expect, it } from 'vitest';
import { Histogram } from '../../src/platform/histogram.ts';

describe('a histogram', () => {
  it('tells how many were at most as large as each bound, and their sum', () => {
    const histogram = new Histogram('wait_seconds', 'How long.', [0.1, 1]);
    for (const value of [0.05, 0.1, 0.5, 3]) histogram.series().observe(value);
    expect(histogram.text()).toBe(
      [
        '# HELP wait_seconds How long.',
        '# TYPE wait_seconds histogram',
        'wait_seconds_bucket{le="0.1"} 2',
        'wait_seconds_bucket{le="1"} 3',
        'wait_seconds_bucket{le="+Inf"} 4',
        'wait_seconds_sum 3.65',
        'wait_seconds_count 4',
        '',
      ].join('\n'),
    );
  });

  it('keeps those with other labels apart', () => {
    const histogram = new Histogram('wait_seconds', 'How long.', [1]);
    histogram.series('status="200"').observe(2);
    histogram.series('status="404"').observe(0.5);
    histogram.series('status="404"').observe(0.5);
    expect(histogram.text()).toContain('wait_seconds_bucket{le="1",status="200"} 0\n');
    expect(histogram.text()).toContain('wait_seconds_count{status="200"} 1\n');
    expect(histogram.text()).toContain('wait_seconds_sum{status="404"} 1\n');
  });
});
