import type { Egress } from '../platform/egress/egress.ts';
import type { Telemetry } from '../platform/telemetry.ts';

/** Each attempt to deliver as a span, and its receiver is told of it. */
export function traced(post: Egress['post'], telemetry: Telemetry, clock: { now(): number }): Egress['post'] {
  return async (request) => {
    const span = telemetry.delivery(clock.now(), request.traceparent);
    const headers = { ...request.headers, traceparent: span.traceparent };
    const outcome = await post({ ...request, headers });
    const attributes = {
      'messaging.operation.name': 'deliver',
      'messaging.message.id': request.headers['webhook-id'],
      'server.address': new URL(request.url).hostname,
      'http.response.status_code': outcome.status,
      'error.type': outcome.failure?.code,
    };
    const isFailed = outcome.failure !== undefined || (outcome.status ?? 0) >= 300;
    span.end(clock.now(), 'deliver', attributes, isFailed);
    return outcome;
  };
}
