import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { prometheusProducer } from './otlp-metrics.ts';
import type { Attributes, Span, Telemetry, TelemetrySettings } from './telemetry.ts';

/** What was gathered gets this long to go out when the service stops. */
const STOP_MS = 1_000;

/** The official SDK, with the parts of it that are needed. Nothing of it is registered globally. */
export function startTelemetry(settings: TelemetrySettings, node: string): Telemetry {
  const { traces, metrics, timeoutMs } = settings;
  // What counts for itself has a name of its own, or what two of them count would be taken for one.
  const resource = resourceFromAttributes({ 'service.instance.id': node, ...settings.resource });
  const exporterOptions = { timeoutMillis: timeoutMs };
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(settings),
    spanProcessors: traces
      ? [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ ...traces, ...exporterOptions }) })]
      : [],
  });
  const tracer = provider.getTracer('porter');
  let meters: MeterProvider | undefined;

  const begin = (kind: SpanKind, startMs: number, parent: Context): Span => {
    const span = tracer.startSpan('porter', { kind, startTime: startMs }, parent);
    const { traceId, spanId, traceFlags } = span.spanContext();
    return {
      traceId,
      traceparent: `00-${traceId}-${spanId}-${traceFlags & TraceFlags.SAMPLED ? '01' : '00'}`,
      end(endMs, name, attributes, isFailed) {
        if (span.isRecording()) {
          span.updateName(name);
          span.setAttributes(known(attributes));
          if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end(endMs);
      },
    };
  };

  return {
    request: (startMs, traceparent) => begin(SpanKind.SERVER, startMs, contextOf(traceparent)),
    delivery: (startMs, traceparent) => begin(SpanKind.PRODUCER, startMs, contextOf(traceparent)),
    sendMetrics(text) {
      if (!metrics) return;
      const reader = new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ ...metrics, ...exporterOptions }),
        exportIntervalMillis: settings.metricsEveryMs,
        exportTimeoutMillis: Math.min(timeoutMs, settings.metricsEveryMs),
        metricProducers: [prometheusProducer(text, resource)],
      });
      meters = new MeterProvider({ resource, readers: [reader] });
    },
    async stop() {
      const sent = Promise.allSettled([provider.shutdown(), meters?.shutdown()]);
      // A collector that is away keeps nobody from stopping.
      const late = new Promise((resolve) => setTimeout(resolve, STOP_MS).unref());
      await Promise.race([sent, late]);
    },
  };
}

function samplerOf({ sampler, sampled }: TelemetrySettings): Sampler {
  const name = sampler.replace('parentbased_', '');
  const root =
    name === 'always_on'
      ? new AlwaysOnSampler()
      : name === 'always_off'
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(sampled);
  return name === sampler ? root : new ParentBasedSampler({ root });
}

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** What is not of the form of W3C Trace Context begins a trace of its own. */
function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags ?? '0', 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function known(attributes: Attributes): Record<string, string | number> {
  const given = Object.entries(attributes).filter(
    (pair): pair is [string, string | number] => pair[1] !== undefined,
  );
  return Object.fromEntries(given);
}
