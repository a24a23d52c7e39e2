import { type HrTime, ValueType } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';

/** The metrics of the service, which are kept for Prometheus, as OpenTelemetry has them: the same names and labels by either way. */

interface Family {
  name: string;
  help: string;
  type: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

export function prometheusProducer(text: () => Promise<string>, resource: Resource): MetricProducer {
  const startTime = hrTime(Date.now());
  return {
    async collect() {
      const families = readPrometheus(await text());
      const endTime = hrTime(Date.now());
      const metrics = families.flatMap((family) => metricOf(family, { startTime, endTime }));
      return {
        resourceMetrics: { resource, scopeMetrics: [{ scope: { name: 'porter' }, metrics }] },
        errors: [],
      };
    },
  };
}

const hrTime = (milliseconds: number): HrTime => [
  Math.floor(milliseconds / 1000),
  (milliseconds % 1000) * 1_000_000,
];

function readPrometheus(text: string): Family[] {
  const families = new Map<string, Family>();
  const family = (name: string) => {
    const known = families.get(name) ?? { name, help: '', type: 'untyped', samples: [] };
    families.set(name, known);
    return known;
  };
  for (const line of text.split('\n')) {
    const [, kind, about = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') family(about).help = rest;
    else if (kind === 'TYPE') family(about).type = rest;
    const [, name, labels = '', value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const of = families.get(name.replace(/_(bucket|sum|count)$/, ''));
    const owner = of?.type === 'histogram' ? of : family(name);
    owner.samples.push({ name, labels: labelsOf(labels), value: Number(value) });
  }
  return [...families.values()].filter(({ samples }) => samples.length > 0);
}

function labelsOf(text: string): Record<string, string> {
  const pairs = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries(
    Array.from(pairs, ([, name = '', value = '']) => [
      name,
      value.replaceAll(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char)),
    ]),
  );
}

type Times = Pick<DataPoint<number>, 'startTime' | 'endTime'>;

function metricOf({ name, help, type, samples }: Family, times: Times): MetricData[] {
  const base = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (type === 'histogram')
    return [{ ...base, dataPointType: DataPointType.HISTOGRAM, dataPoints: histograms(samples, times) }];
  const dataPoints = samples.map(({ labels, value }) => ({ ...times, attributes: labels, value }));
  return type === 'counter'
    ? [{ ...base, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
    : [{ ...base, dataPointType: DataPointType.GAUGE, dataPoints }];
}

/** Prometheus counts everything up to a bound; OpenTelemetry what lies between two. */
function histograms(samples: Family['samples'], times: Times): DataPoint<Histogram>[] {
  const series = new Map<string, DataPoint<Histogram>>();
  for (const { name, labels, value } of samples) {
    const { le, ...attributes } = labels;
    const key = JSON.stringify(attributes);
    const point = series.get(key) ?? {
      ...times,
      attributes,
      value: { buckets: { boundaries: [], counts: [] }, sum: 0, count: 0 },
    };
    series.set(key, point);
    const { buckets } = point.value;
    if (le !== undefined) {
      const below = buckets.counts.reduce((sum, count) => sum + count, 0);
      if (le !== '+Inf') buckets.boundaries.push(Number(le));
      buckets.counts.push(value - below);
    } else if (name.endsWith('_sum')) point.value.sum = value;
    else if (name.endsWith('_count')) point.value.count = value;
  }
  return [...series.values()];
}
