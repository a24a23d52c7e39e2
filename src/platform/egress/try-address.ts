import { createSecureContext } from 'node:tls';
import { createLookup, Dialling } from './dial.ts';
import { type Failure, failed } from './outcome.ts';
import { literalAddress, type Targets } from './ssrf-guard.ts';

interface Tried {
  /** Undefined: it was reached. */
  failure: Failure | undefined;
  durationMs: number;
}

export type TryAddress = (url: string) => Promise<Tried>;

const WAIT_MS = 5_000;

/** Connects to an address as a delivery would, certificate included, and sends nothing. For one that the guard has let through (`refuseTarget`). */
export function createTryAddress(targets: Targets): TryAddress {
  const options = {
    targets,
    lookup: createLookup(),
    secureContext: createSecureContext({ minVersion: 'TLSv1.2' }),
  };
  return (url) => {
    const { hostname, port, protocol } = new URL(url);
    const secure = protocol === 'https:';
    const peer = {
      host: literalAddress(hostname) ?? hostname,
      port: port === '' ? (secure ? 443 : 80) : Number(port),
      secure,
    };
    const startedAt = performance.now();
    return new Promise((resolve) => {
      const end = (failure: Failure | undefined) => {
        clearTimeout(late);
        resolve({ failure, durationMs: performance.now() - startedAt });
      };
      const dialling = new Dialling(peer, options, (failure, socket) => {
        socket?.destroy();
        end(failure);
      });
      const late = setTimeout(() => {
        const { phase, detail } = dialling;
        dialling.cancel();
        end(failed(phase, `${phase}_timeout`, detail));
      }, WAIT_MS).unref();
    });
  };
}
