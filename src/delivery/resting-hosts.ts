import { type CircuitBreaker, DIAL_EVERY_MS } from '../domain/events/flow-control.ts';
import type { Bell } from '../platform/bell.ts';
import type { Clock } from '../platform/clock.ts';
import type { Egress } from '../platform/egress/egress.ts';
import type { OpenDestination } from './destinations.ts';

/** Where deliveries of a webhook go, and the circuit breaker of its host. */
export interface Receiver {
  destination: OpenDestination;
  host: CircuitBreaker;
}

interface RestingHostsOptions {
  clock: Clock;
  dial: Egress['dial'];
  operatorEgress: Pick<Egress, 'dial'>;
  /** Rung when a host is back. */
  due: Bell;
}

/** Dials hosts whose circuit is open, so that what waits for them goes on within seconds of their return. */
export class RestingHosts {
  readonly #options: RestingHostsOptions;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: RestingHostsOptions) {
    this.#options = options;
  }

  /** Does not wait for an answer. */
  dial({ destination, host }: Receiver, moment: number): void {
    if (!host.wantsDial(moment)) return;
    const { clock, due, operatorEgress } = this.#options;
    const dial = destination.isOfOperator ? operatorEgress.dial : this.#options.dial;
    const dialled = dial(destination.url, DIAL_EVERY_MS).then((reached) => {
      this.#underWay.delete(dialled);
      host.dialled(reached, clock.monotonic());
      if (reached) due.ring();
    });
    this.#underWay.add(dialled);
  }

  /** When those that are being dialled have answered, or have not. */
  async idle(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
