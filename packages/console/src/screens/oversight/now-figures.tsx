import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { one } from '../../api/client.ts';
import type { Figures as FigureSeries } from '../../api/generated.ts';
import { Chart, type Series } from '../../parts/chart.tsx';
import { Pick, useFilters } from '../../parts/filters.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { toDuration, useNow } from '../../parts/when.tsx';

const HOUR_MS = 3_600_000;
const ROUNDED_MS = 5 * 60_000;
const spans: Record<string, { title: string; ms: number }> = {
  '1h': { title: 'the last hour', ms: HOUR_MS },
  '3h': { title: 'the last 3 hours', ms: 3 * HOUR_MS },
  '1d': { title: 'the last 24 hours', ms: 24 * HOUR_MS },
  '7d': { title: 'the last 7 days', ms: 7 * 24 * HOUR_MS },
};
const USUAL = '3h';

/** How the service does: four charts of the same time. The stream of news asks for them again every few seconds. */
export function Figures() {
  const { values, set } = useFilters(['span']);
  const { title, ms } = spans[values.span ?? USUAL] ?? { title: 'the last 3 hours', ms: 3 * HOUR_MS };
  const begin = Math.floor((useNow() - ms) / ROUNDED_MS) * ROUNDED_MS;
  const query = useQuery({
    // What the service takes without being asked is by its own clock, and need not be told.
    ...one('getFigures', {
      query: values.span && values.span !== USUAL ? { since: new Date(begin).toISOString() } : {},
    }),
    placeholderData: keepPreviousData,
  });
  return (
    <Section
      title="How the service does"
      actions={
        <Pick
          label="Time"
          value={values.span}
          any={spans[USUAL]?.title ?? ''}
          choices={Object.entries(spans)
            .filter(([value]) => value !== USUAL)
            .map(([value, span]) => ({ value, title: span.title }))}
          onChange={(value) => set('span', value)}
        />
      }
    >
      <Loaded query={query}>{(data) => <Charts of={data} span={title} />}</Loaded>
    </Section>
  );
}

type Point = FigureSeries['data'][number];
const minutes: Record<FigureSeries['step'], number> = {
  '1m': 1,
  '5m': 5,
  '15m': 15,
  '1h': 60,
  '6h': 360,
  '1d': 1440,
};

const number = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 1 });
const toNumber = (value: number) => number.format(value);
const toSeconds = (value: number) => toDuration(value * 1000);

function Charts({ of: { data, step }, span }: { of: FigureSeries; span: string }) {
  const at = useMemo(() => data.map((point) => Date.parse(point.at)), [data]);
  const charts = useMemo(() => {
    const rate = (pick: (point: Point) => number) => data.map((point) => pick(point) / minutes[step]);
    const sum = (pick: (point: Point) => number) =>
      toNumber(data.reduce((total, point) => total + pick(point), 0));
    const calls: Series[] = [
      { label: 'answered', colour: '--brand', values: rate(({ calls }) => calls.ok) },
      { label: 'refused', colour: '--amber', dash: [6, 3], values: rate(({ calls }) => calls.refused) },
      {
        label: 'over the limit',
        colour: '--soft',
        dash: [2, 3],
        values: rate(({ calls }) => calls.rate_limited),
      },
      { label: 'failed', colour: '--red', dash: [10, 3, 2, 3], values: rate(({ calls }) => calls.failed) },
    ];
    const deliveries: Series[] = [
      { label: 'delivered', colour: '--brand', values: rate(({ deliveries }) => deliveries.delivered) },
      {
        label: 'retried',
        colour: '--amber',
        dash: [6, 3],
        values: rate(({ deliveries }) => deliveries.retried),
      },
      {
        label: 'given up',
        colour: '--red',
        dash: [10, 3, 2, 3],
        values: rate(({ deliveries }) => deliveries.given_up),
      },
    ];
    const delay: Series[] = [
      { label: 'half within', colour: '--brand', values: data.map(({ delay_ms }) => delay_ms.p50) },
      {
        label: '95 % within',
        colour: '--amber',
        dash: [6, 3],
        values: data.map(({ delay_ms }) => delay_ms.p95),
      },
    ];
    const oldest: Series[] = [
      {
        label: 'oldest',
        colour: '--brand',
        values: data.map(({ oldest_undelivered_seconds }) => oldest_undelivered_seconds),
      },
    ];
    return {
      calls,
      deliveries,
      delay,
      oldest,
      summaries: {
        calls: `In ${span}: ${sum(({ calls }) => calls.ok)} answered, ${sum(({ calls }) => calls.refused)} refused, ${sum(({ calls }) => calls.rate_limited)} over the limit, ${sum(({ calls }) => calls.failed)} failed.`,
        deliveries: `In ${span}: ${sum(({ deliveries }) => deliveries.delivered)} delivered, ${sum(({ deliveries }) => deliveries.retried)} retried, ${sum(({ deliveries }) => deliveries.given_up)} given up.`,
        delay: toWorst(delay[1], toDuration, 'At worst 95 % arrived within', 'Nothing arrived'),
        oldest: toWorst(oldest[0], toSeconds, 'The longest that an event waited was', 'Nothing waited'),
      },
    };
  }, [data, step, span]);
  const { summaries } = charts;
  return (
    <div className="charts">
      <Chart
        title="Calls by outcome"
        unit="calls a minute"
        summary={summaries.calls}
        at={at}
        series={charts.calls}
        format={toNumber}
        top={1}
      />
      <Chart
        title="Deliveries by outcome"
        unit="attempts a minute"
        summary={summaries.deliveries}
        at={at}
        series={charts.deliveries}
        format={toNumber}
        top={1}
      />
      <Chart
        title="Delay"
        unit="from acceptance to receipt"
        summary={`${summaries.delay} in ${span}.`}
        at={at}
        series={charts.delay}
        format={toDuration}
        top={100}
      />
      <Chart
        title="Oldest undelivered"
        unit="waiting time"
        summary={`${summaries.oldest} in ${span}.`}
        at={at}
        series={charts.oldest}
        format={toSeconds}
        steps={[1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800]}
        top={10}
      />
    </div>
  );
}

function toWorst(
  series: Series | undefined,
  format: (value: number) => string,
  found: string,
  none: string,
): string {
  const values = (series?.values ?? []).filter((value) => value !== null);
  const worst = Math.max(0, ...values);
  return worst > 0 ? `${found} ${format(worst)}` : none;
}
