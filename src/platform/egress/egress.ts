import { createSecureContext } from 'node:tls';
import { createLookup, Dialling, type DialOptions, type Lookup, type Peer } from './dial.ts';
import { LinkedList } from './linked-list.ts';
import { type Failure, failed, type PostOutcome, type PostRequest } from './outcome.ts';
import { ConnectionPool, type OutgoingConnection } from './outgoing-connection.ts';
import { OutgoingRequest } from './outgoing-request.ts';
import { literalAddress, refuseTarget, type Targets } from './ssrf-guard.ts';

export { type PostOutcome, type PostRequest, wasReached } from './outcome.ts';

/**
 * The way out: POSTs to addresses that partners chose. Every call ends, well or badly, within its deadline, and says
 * how; none throws. How many are under way at once is for the caller to limit: a limit for each host in here would let
 * one webhook that hangs hold up another on the same host.
 */
export interface Egress {
  post(request: PostRequest): Promise<PostOutcome>;
  /** Whether a connection can be made within this time. Nothing is sent over it. */
  dial(url: string, waitMs: number): Promise<boolean>;
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

type Route = { refusal: string } | { refusal: undefined; path: string; peer: Peer; pool: ConnectionPool };

/** URLs remembered with what was found out about them, so that a call costs a look into a map. */
const ROUTES_MAX = 10_000;

export function createEgress(options: EgressOptions): Egress {
  const { targets, timeoutMs = 15_000, lookup = createLookup(), ca } = options;
  const secureContext = createSecureContext({ minVersion: 'TLSv1.2', ...(ca !== undefined && { ca }) });
  const dialOptions: DialOptions = { targets, lookup, secureContext };
  const routes = new Map<string, Route>();
  const pools = new Map<string, ConnectionPool>();
  const connections = new Set<OutgoingConnection>();
  /** Ends the dialling of hosts. */
  const dials = new Set<() => void>();
  /** Their order is that of their deadlines: one timer serves them all. */
  const underway = new LinkedList<OutgoingRequest>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function expireDue(): void {
    timer = undefined;
    for (let request = underway.first; request; request = underway.first) {
      const left = request.startedAt + timeoutMs - performance.now();
      if (left > 0) {
        timer = setTimeout(expireDue, Math.ceil(left)).unref();
        return;
      }
      request.expire();
    }
  }

  function routeTo(url: string): Route {
    // Pools that are forgotten here live on until their last connection goes.
    if (routes.size >= ROUTES_MAX) {
      routes.clear();
      pools.clear();
    }
    const refusal = refuseTarget(url, targets);
    const route: Route = refusal === undefined ? openRoute(new URL(url)) : { refusal };
    routes.set(url, route);
    return route;
  }

  function openRoute({ origin, hostname, port, protocol, pathname, search }: URL): Route {
    const secure = protocol === 'https:';
    const peer = {
      host: literalAddress(hostname) ?? hostname,
      port: port === '' ? (secure ? 443 : 80) : Number(port),
      secure,
    };
    let pool = pools.get(origin);
    if (!pool) {
      pool = new ConnectionPool(origin, peer, dialOptions, connections);
      pools.set(origin, pool);
    }
    return { refusal: undefined, path: pathname + search, peer, pool };
  }

  return {
    post(request) {
      if (isClosed) return Promise.resolve(notMade(failed('send', 'stopped', '')));
      const route = routes.get(request.url) ?? routeTo(request.url);
      if (route.refusal !== undefined)
        return Promise.resolve(notMade(failed('address', 'address_refused', route.refusal)));
      return new Promise((resolve) => {
        const outgoing = new OutgoingRequest(request, route.path, route.pool, (outcome) => {
          underway.remove(outgoing);
          resolve(outcome);
        });
        underway.add(outgoing);
        timer ??= setTimeout(expireDue, timeoutMs).unref();
        outgoing.start();
      });
    },

    dial(url, waitMs) {
      const route = routes.get(url) ?? routeTo(url);
      if (isClosed || route.refusal !== undefined) return Promise.resolve(false);
      return new Promise((resolve) => {
        const end = (reached: boolean) => {
          clearTimeout(late);
          dials.delete(giveUp);
          resolve(reached);
        };
        const dialling = new Dialling(route.peer, dialOptions, (_failure, socket) => {
          socket?.destroy();
          end(socket !== undefined);
        });
        const giveUp = () => {
          dialling.cancel();
          end(false);
        };
        const late = setTimeout(giveUp, waitMs).unref();
        dials.add(giveUp);
      });
    },

    async close() {
      isClosed = true;
      clearTimeout(timer);
      for (const giveUp of dials) giveUp();
      for (let request = underway.first; request; request = underway.first) request.stop();
      await Promise.all([...connections].map((connection) => connection.destroy()));
    },
  };
}

function notMade(failure: Failure): PostOutcome {
  return { status: undefined, retryAfter: undefined, answer: '', durationMs: 0, failure, isLocal: false };
}
