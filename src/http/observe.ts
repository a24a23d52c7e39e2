import { Counter, Gauge, Registry } from 'prom-client';
import type { Clock } from '../platform/clock.ts';
import { Histogram, type Series } from '../platform/histogram.ts';
import { type Logger, redact } from '../platform/logger.ts';
import type { Attributes } from '../platform/telemetry.ts';
import type { Strangers } from '../runtime/access/strangers.ts';
import type { Usage } from '../runtime/oversight/usage.ts';
import type { Connections } from './connections.ts';
import type { Exchange } from './exchange.ts';
import { addressKey } from './transport.ts';

/** One success in so many is logged; every refusal and every error is, but for those of strangers past their limit. */
const SUCCESSES_PER_LINE = 100;
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface PoolNumbers {
  totalCount: number;
  idleCount: number;
  waitingCount: number;
}

export interface Observer {
  metrics: { contentType: string; text: () => Promise<string> };
  /** One wide log line and two metrics, when a request has its answer. */
  finish: (exchange: Exchange, status: number) => void;
}

interface ObserverOptions {
  log: Logger;
  clock: Clock;
  pool: PoolNumbers;
  refusals: { dropped: number };
  accessLog: { dropped: number };
  usage: Pick<Usage, 'call' | 'dropped'>;
  streams: { count: number };
  strangers: Pick<Strangers, 'mayLog'>;
  connections: Pick<Connections, 'open' | 'refused'>;
  moreMetrics: () => Promise<string>;
}

export function observe(options: ObserverOptions): Observer {
  const {
    log,
    clock,
    pool,
    refusals: kept,
    accessLog,
    usage,
    streams,
    strangers,
    connections,
    moreMetrics,
  } = options;
  const registry = new Registry();
  const registers = [registry];
  const seconds = new Histogram(
    'porter_http_request_seconds',
    'Time to answer, by operation and status.',
    SECONDS,
  );
  const timings = new Map<string, Map<number, Series>>();
  const timing = (operation: string, status: number) => {
    const known = timings.get(operation)?.get(status);
    if (known) return known;
    const series = seconds.series(`operation="${operation}",status="${status}"`);
    timings.set(operation, (timings.get(operation) ?? new Map()).set(status, series));
    return series;
  };
  const refusals = new Counter({
    name: 'porter_http_refusals_total',
    help: 'Requests that were refused or failed, by operation and error code; `away` if something outside did not answer.',
    labelNames: ['operation', 'error', 'away'] as const,
    registers,
  });
  new Gauge({
    name: 'porter_database_connections',
    help: 'Connections to PostgreSQL, and requests that wait for one.',
    labelNames: ['state'] as const,
    registers,
    collect() {
      this.set({ state: 'open' }, pool.totalCount);
      this.set({ state: 'idle' }, pool.idleCount);
      this.set({ state: 'waiting' }, pool.waitingCount);
    },
  });
  new Gauge({
    name: 'porter_process_resident_bytes',
    help: 'Memory of the service process.',
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });

  new Gauge({
    name: 'porter_event_streams',
    help: 'Streams of events that are open.',
    registers,
    collect() {
      this.set(streams.count);
    },
  });

  new Counter({
    name: 'porter_refusals_not_kept_total',
    help: 'Refused calls that partners cannot ask about, because there were too many or they could not be written.',
    registers,
    collect() {
      this.reset();
      this.inc(kept.dropped);
    },
  });

  new Counter({
    name: 'porter_access_log_not_kept_total',
    help: 'Entries of the access log that were not kept, because there were too many or they could not be written.',
    registers,
    collect() {
      this.reset();
      this.inc(accessLog.dropped);
    },
  });

  new Counter({
    name: 'porter_usage_not_kept_total',
    help: 'Calls and deliveries that are missing in the figures of usage, because there was too much to count.',
    registers,
    collect() {
      this.reset();
      this.inc(usage.dropped);
    },
  });

  new Gauge({
    name: 'porter_http_connections',
    help: 'Connections that callers hold open.',
    registers,
    collect() {
      this.set(connections.open);
    },
  });

  new Counter({
    name: 'porter_http_connections_refused_total',
    help: 'Connections that were closed at once or early, because there were too many.',
    registers,
    collect() {
      this.reset();
      this.inc(connections.refused);
    },
  });

  let successes = 0;
  /** A fault of ours has its line whoever meets it. */
  const isToldAlone = ({ trace, transport }: Exchange, status: number): boolean =>
    status >= 500 || isKnown(trace) || strangers.mayLog(addressKey(transport.address));
  const finish: Observer['finish'] = (exchange, status) => {
    const { trace } = exchange;
    const elapsedMs = clock.monotonic() - trace.startedAt;
    timing(trace.operation, status).observe(elapsedMs / 1000);
    if (trace.keyId !== undefined && trace.partnerId !== undefined)
      usage.call(trace.partnerId, trace.keyId, trace.operation, status, elapsedMs);
    exchange.span?.end(
      clock.now(),
      `${exchange.method} ${trace.operation}`,
      spanAttributes(exchange, status),
      status >= 500,
    );
    const { operation, error, away } = trace;
    if (error) refusals.inc({ operation, error, ...(away && { away }) });
    if (status >= 400 ? isToldAlone(exchange, status) : successes++ % SUCCESSES_PER_LINE === 0) {
      log.info(
        {
          request_id: exchange.id,
          method: exchange.method,
          path: shownPath(exchange),
          operation: trace.operation,
          status,
          error: trace.error,
          reason: trace.reason,
          duration_ms: Math.round(elapsedMs * 100) / 100,
          address: exchange.transport.address,
          key_id: trace.keyId ?? trace.guest?.keyId,
          partner_id: trace.partnerId,
          practice_group_id: trace.practiceGroupId,
          operator_id: trace.operatorId,
          invitation_id: trace.guest?.invitationId,
          session_id: trace.guest?.sessionId,
          person: trace.guest?.name,
          trace_id: exchange.span?.traceId,
        },
        'request',
      );
    }
  };
  const text = async () => (await registry.metrics()) + seconds.text() + (await moreMetrics());
  return { metrics: { contentType: registry.contentType, text }, finish };
}

const isKnown = ({ keyId, operatorId, guest }: Exchange['trace']) =>
  keyId !== undefined || operatorId !== undefined || guest !== undefined;

const WORD = /^(?:[a-z]{1,20}(?:-[a-z]{1,20}){0,4}|v\d)?$/;

/**
 * The path for logs and traces. An unauthenticated caller may have put a secret into it, such as the key of another service. The log keeps
 * only the plain words of such a path.
 */
function shownPath({ path, trace }: Exchange): string {
  if (isKnown(trace)) return path;
  return path
    .split('/')
    .map((part) => (WORD.test(part) ? part : '[redacted]'))
    .join('/');
}

/** By the names of OpenTelemetry where it has one. */
function spanAttributes(exchange: Exchange, status: number): Attributes {
  const { id, method, trace, transport } = exchange;
  return {
    'http.request.method': method,
    // Traces pass no gate as the log does: a link with a token in it, opened as some mail programs write it, is a path.
    'url.path': redact(shownPath(exchange)),
    'http.response.status_code': status,
    'client.address': transport.address,
    'error.type': trace.error,
    'porter.operation': trace.operation,
    'porter.request_id': id,
    'porter.partner_id': trace.partnerId,
    'porter.practice_group_id': trace.practiceGroupId,
    'porter.operator_id': trace.operatorId,
  };
}
