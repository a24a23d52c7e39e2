import cluster from 'node:cluster';
import { systemClock } from './platform/clock.ts';
import type { EmbeddedPostgres } from './platform/postgres/embedded.ts';

/** A process of several: what it is told by the one that started it (`processes.ts`), and what it tells. */
export interface Parent {
  order: Order;
  /** Tells that it serves. */
  serving(): void;
  /** Tells the metrics of this process when asked for them, and asks for those of all. */
  shareMetrics(own: () => Promise<string>): () => Promise<string>;
}

export interface Order {
  /** From 0; one that takes the place of another has its number. */
  place: number;
  /** The first of all says to people what has to be said once. */
  isFirst: boolean;
  /** Whether what is said is read on a terminal. */
  isTerminal: boolean;
  /** The embedded PostgreSQL, which the parent looks after. */
  postgres: Pick<EmbeddedPostgres, 'url' | 'serviceUrl'> | undefined;
}

export type ToChild =
  | { kind: 'order'; order: Order }
  | { kind: 'tell metrics' }
  | { kind: 'all metrics'; id: number; text: string };

export type ToParent =
  | { kind: 'hello' }
  | { kind: 'serving' }
  | { kind: 'metrics'; text: string }
  | { kind: 'ask for metrics'; id: number };

/** Of a parent that does not answer, a child does not wait for longer. */
const ANSWER_MS = 3_000;

/** Undefined: this process was started by itself. `lost`: the parent is gone, and with it the port. */
export async function findParent(lost: () => void): Promise<Parent | undefined> {
  const { worker } = cluster;
  if (!worker) return undefined;
  worker.on('disconnect', () => {
    // Node would end the process at once, and every call with it.
    worker.exitedAfterDisconnect = true;
    lost();
  });
  const tell = (message: ToParent) => {
    if (worker.isConnected()) worker.send(message, () => {});
  };
  const asked = new Map<number, (text: string) => void>();
  let own: (() => Promise<string>) | undefined;
  const order = new Promise<Order>((resolve) => {
    worker.on('message', async (message: ToChild) => {
      if (message.kind === 'order') resolve(message.order);
      else if (message.kind === 'all metrics') asked.get(message.id)?.(message.text);
      else tell({ kind: 'metrics', text: (await own?.()) ?? '' });
    });
  });
  tell({ kind: 'hello' });

  let questions = 0;
  return {
    order: await order,
    serving: () => tell({ kind: 'serving' }),
    shareMetrics(text) {
      own = text;
      return async () => {
        const id = questions++;
        const answer = new Promise<string>((resolve) => asked.set(id, resolve));
        tell({ kind: 'ask for metrics', id });
        const all = await Promise.race([answer, systemClock.sleep(ANSWER_MS)]);
        asked.delete(id);
        return all ?? text();
      };
    },
  };
}
