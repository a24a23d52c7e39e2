/**
 * Traces and metrics by OTLP, for whoever sets the variables of OpenTelemetry. What does it (opentelemetry.ts, and the packages behind it) is
 * loaded only then: without them, a start takes no longer and a call costs nothing more.
 */

export interface Telemetry {
  /** Begins with a request, as a part of the trace that its caller names. */
  request(startMs: number, traceparent: string | undefined): Span;
  /** Begins with an attempt to deliver, as a part of the trace that its event came from. */
  delivery(startMs: number, traceparent: string | undefined): Span;
  /** From now on, these go out at an interval: Prometheus text. */
  sendMetrics(text: () => Promise<string>): void;
  /** Sends what was gathered. */
  stop(): Promise<void>;
}

export interface Span {
  /** For whoever is called next. */
  readonly traceparent: string;
  readonly traceId: string;
  end(endMs: number, name: string, attributes: Attributes, isFailed: boolean): void;
}

export type Attributes = Record<string, string | number | undefined>;

export interface TelemetrySettings {
  traces: Collector | undefined;
  metrics: Collector | undefined;
  timeoutMs: number;
  metricsEveryMs: number;
  sampler: string;
  /** Of the sampler: a share. */
  sampled: number;
  resource: Record<string, string>;
}

interface Collector {
  url: string;
  headers: Record<string, string>;
}

type Environment = Record<string, string | undefined>;

const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Undefined: nobody asked for it. Throws what is wrong with a variable. */
export function readTelemetry(env: Environment): TelemetrySettings | undefined {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  const traces = collectorOf(env, 'TRACES');
  const metrics = collectorOf(env, 'METRICS');
  if (!traces && !metrics) return undefined;
  const protocol = env.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/json';
  if (!protocol.startsWith('http/'))
    throw new Error(
      `OTEL_EXPORTER_OTLP_PROTOCOL=${protocol}: only http is spoken here, with JSON (http/json).`,
    );
  const sampler = env.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on';
  if (!(samplers as readonly string[]).includes(sampler))
    throw new Error(`OTEL_TRACES_SAMPLER=${sampler} is not known. It is one of ${samplers.join(', ')}.`);
  return {
    traces,
    metrics,
    timeoutMs: numberOf(env, 'OTEL_EXPORTER_OTLP_TIMEOUT', 10_000),
    metricsEveryMs: numberOf(env, 'OTEL_METRIC_EXPORT_INTERVAL', 60_000),
    sampler,
    sampled: numberOf(env, 'OTEL_TRACES_SAMPLER_ARG', 1),
    resource: {
      'service.name': 'porter',
      ...pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES'),
      ...(env.OTEL_SERVICE_NAME && { 'service.name': env.OTEL_SERVICE_NAME }),
    },
  };
}

function collectorOf(env: Environment, signal: 'TRACES' | 'METRICS'): Collector | undefined {
  const exporter = env[`OTEL_${signal}_EXPORTER`] ?? 'otlp';
  if (exporter === 'none') return undefined;
  if (exporter !== 'otlp')
    throw new Error(`OTEL_${signal}_EXPORTER=${exporter} is not known. It is otlp or none.`);
  const own = env[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`];
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const url = own ?? (base && `${base.replace(/\/+$/, '')}/v1/${signal.toLowerCase()}`);
  if (!url) return undefined;
  if (!URL.canParse(url) || !/^https?:/.test(url))
    throw new Error(`OTEL_EXPORTER_OTLP_ENDPOINT: "${url}" is not an address such as http://127.0.0.1:4318.`);
  const headers = {
    ...pairsOf(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
    ...pairsOf(env, `OTEL_EXPORTER_OTLP_${signal}_HEADERS`),
  };
  return { url, headers };
}

/** `name=value,name=value`, with percent-encoding. */
function pairsOf(env: Environment, variable: string): Record<string, string> {
  const pairs = (env[variable] ?? '').split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      // The value may be a secret, so it is not quoted.
      if (at < 1) throw new Error(`${variable} is not of the form name=value,name=value.`);
      return [decodeURIComponent(pair.slice(0, at).trim()), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

function numberOf(env: Environment, variable: string, usual: number): number {
  const text = env[variable] ?? String(usual);
  if (!/^\d{1,9}(\.\d+)?$/.test(text)) throw new Error(`${variable}=${text} is not a number.`);
  return Number(text);
}
