import { createEngine } from '../delivery/engine.ts';
import { traced } from '../delivery/tracing.ts';
import type { App } from '../operations/app.ts';
import { createEgress } from '../platform/egress/egress.ts';
import type { Logger } from '../platform/logger.ts';
import type { Telemetry } from '../platform/telemetry.ts';

/** What became of deliveries is written down for so long after the way out was closed. */
const RECORD_MS = 500;

/** The delivery engine with its way out. What is still under way when the time is up is sent again by the next worker. */
export function startDelivering(app: App, log: Logger, isOnTime: () => boolean, telemetry?: Telemetry) {
  const egress = createEgress({ targets: app.webhookTargets });
  // Apart: a connection into a network of the operator's own is never one that a partner's webhook could be given.
  const operatorEgress = createEgress({ targets: app.operatorTargets });
  const engine = createEngine({
    ...app,
    log,
    post: telemetry ? traced(egress.post, telemetry, app.clock) : egress.post,
    dial: egress.dial,
    operatorEgress: telemetry
      ? { ...operatorEgress, post: traced(operatorEgress.post, telemetry, app.clock) }
      : operatorEgress,
    traces: telemetry !== undefined,
    isOnTime,
    open: app.sealer.open,
  });
  engine.start();
  app.handOver.accept = engine.accept;
  return {
    metrics: engine.metrics,
    async stop(late: Promise<void>): Promise<void> {
      app.handOver.accept = undefined;
      const stopped = engine.stop();
      await Promise.race([stopped, late]);
      await Promise.all([egress.close(), operatorEgress.close()]);
      await Promise.race([stopped, new Promise<void>((resolve) => app.clock.timer(RECORD_MS, resolve))]);
    },
  };
}
