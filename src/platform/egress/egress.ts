import { createSecureContext } from 'node:tls';
import type { Network } from './connect.ts';
import { Exchange } from './exchange.ts';
import { failed } from './failures.ts';
import { InOrder } from './in-order.ts';
import type { Line } from './line.ts';
import { Origin } from './origin.ts';
import type { Failure, Letter, PostOutcome } from './outcome.ts';
import { createLookup, type Lookup } from './resolve.ts';
import { literalAddress, refuseTarget, type Targets } from './targets.ts';

export type { Letter, PostOutcome } from './outcome.ts';

/**
 * The way out: POSTs to addresses that partners chose. Every call ends, well or badly, within its deadline, and says
 * how; none throws. How many are under way at once is for the caller to limit: a limit for each host in here would let
 * one webhook that hangs hold up another on the same host.
 */
export interface Egress {
  post(letter: Letter): Promise<PostOutcome>;
  /** Ends what is still under way with the code `stopped`. */
  close(): Promise<void>;
}

interface EgressOptions {
  targets: Targets;
  /** For everything from the name to the last byte of the answer. */
  timeoutMs?: number;
  lookup?: Lookup;
  /** Certificates to trust in place of the usual ones; for tests. */
  ca?: string;
}

type Route = { refusal: string } | { refusal: undefined; path: string; origin: Origin };

/** URLs remembered with what was found out about them, so that a call costs a look into a map. */
const ROUTES_MAX = 10_000;

export function createEgress(options: EgressOptions): Egress {
  const { targets, timeoutMs = 15_000, lookup = createLookup(), ca } = options;
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) });
  const network: Network = { targets, lookup, secureContext };
  const routes = new Map<string, Route>();
  const origins = new Map<string, Origin>();
  const lines = new Set<Line>();
  /** Their order is that of their deadlines: one timer serves them all. */
  const underway = new InOrder<Exchange>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function expireDue(): void {
    timer = undefined;
    for (let exchange = underway.first; exchange; exchange = underway.first) {
      const left = exchange.startedAt + timeoutMs - performance.now();
      if (left > 0) {
        timer = setTimeout(expireDue, Math.ceil(left)).unref();
        return;
      }
      exchange.expire();
    }
  }

  function routeTo(url: string): Route {
    // Origins that are forgotten here live on until their last line goes.
    if (routes.size >= ROUTES_MAX) {
      routes.clear();
      origins.clear();
    }
    const refusal = refuseTarget(url, targets);
    const route: Route = refusal === undefined ? openRoute(new URL(url)) : { refusal };
    routes.set(url, route);
    return route;
  }

  function openRoute({ origin: url, hostname, port, protocol, pathname, search }: URL): Route {
    let origin = origins.get(url);
    if (!origin) {
      const secure = protocol === 'https:';
      const place = {
        host: literalAddress(hostname) ?? hostname,
        port: port === '' ? (secure ? 443 : 80) : Number(port),
        secure,
      };
      origin = new Origin(url, place, network, lines);
      origins.set(url, origin);
    }
    return { refusal: undefined, path: pathname + search, origin };
  }

  return {
    post(letter) {
      if (isClosed) return Promise.resolve(notMade(failed('send', 'stopped', '')));
      const route = routes.get(letter.url) ?? routeTo(letter.url);
      if (route.refusal !== undefined)
        return Promise.resolve(notMade(failed('address', 'address_refused', route.refusal)));
      return new Promise((resolve) => {
        const exchange = new Exchange(letter, route.path, route.origin, (outcome) => {
          underway.remove(exchange);
          resolve(outcome);
        });
        underway.add(exchange);
        timer ??= setTimeout(expireDue, timeoutMs).unref();
        exchange.start();
      });
    },

    async close() {
      isClosed = true;
      clearTimeout(timer);
      for (let exchange = underway.first; exchange; exchange = underway.first) exchange.stop();
      await Promise.all([...lines].map((line) => line.destroy()));
    },
  };
}

function notMade(failure: Failure): PostOutcome {
  return { status: undefined, retryAfter: undefined, answer: '', durationMs: 0, failure };
}
