import cluster from 'node:cluster';
import type { RateDecision } from '../domain/access/rate-window.ts';
import { systemClock } from '../platform/clock.ts';
import { Outage } from '../platform/outage.ts';
import type { EmbeddedPostgres } from '../platform/postgres/embedded.ts';
import type { Limits } from '../runtime/access/rate-limits.ts';
import { Batcher } from '../runtime/batcher.ts';
import type { Config } from './config.ts';

/** A process of several: what it is told by the one that started it (`processes.ts`), and what it asks of it. */
export interface Parent {
  order: Order;
  /** Tells that it serves, and where. */
  serving(url: string): void;
  /** Calls that are counted in memory are counted there, for all processes together. */
  limits: Limits;
  /** Reports the metrics of this process to the parent. Returns a function that asks the parent for the metrics of all processes. */
  shareMetrics(own: () => Promise<string>): () => Promise<string>;
  /** Whether a process that delivers has answered the parent lately; true when the service does not deliver. An outage if the parent hangs. */
  delivers(): Promise<boolean>;
}

export interface Order {
  role: Config['role'];
  /** Whether it has a part of the connections, and how many have one. */
  listens: boolean;
  doors: number;
  /** Where the service listens, once that is known. */
  url: string | undefined;
  /** The first of all says to people what is said once. */
  isFirst: boolean;
  /** Of several that could do what one has to do, this one does it. */
  isLeading: boolean;
  /** Whether what is said is read on a terminal. */
  isTerminal: boolean;
  /** The embedded PostgreSQL, which the parent looks after. */
  postgres: Pick<EmbeddedPostgres, 'url' | 'serviceUrl'> | undefined;
}

export type ToChild =
  | { kind: 'order'; order: Order }
  | { kind: 'answer'; id: number; answer: unknown }
  | { kind: 'tell metrics' }
  | { kind: 'ping' };

export type ToParent =
  | { kind: 'hello' }
  | { kind: 'pong' }
  | { kind: 'serving'; url: string }
  | { kind: 'metrics'; text: string }
  | { kind: 'ask'; id: number; question: Question };

export type Question =
  | { about: 'metrics' }
  | { about: 'delivering' }
  | { about: 'rates'; calls: readonly Call[] };

interface Call {
  who: string;
  limit: number;
}

const CALLS_MAX = 500;
/** A parent that has not answered after this time hangs: the call that needs the answer gets a 503. */
const ANSWER_MS = 3_000;

/** Undefined: this process was started by itself. `lost`: the parent is gone, and the port with it. */
export async function findParent(lost: () => void): Promise<Parent | undefined> {
  const { worker } = cluster;
  if (!worker) return undefined;
  const asked = new Map<number, { resolve: (answer: unknown) => void; reject: (reason: Outage) => void }>();
  worker.on('disconnect', () => {
    // Node would end the process at once, and every call with it.
    worker.exitedAfterDisconnect = true;
    for (const { reject } of asked.values()) reject(new Outage('the parent is gone'));
    lost();
  });
  const tell = (message: ToParent) => {
    if (worker.isConnected()) worker.send(message, () => {});
  };
  let questions = 0;
  const ask = <T>(question: Question): Promise<T> => {
    const id = questions++;
    const answer = new Promise<unknown>((resolve, reject) => {
      asked.set(id, { resolve, reject });
      if (!worker.isConnected()) reject(new Outage('the parent is gone'));
    });
    const cancel = systemClock.timer(ANSWER_MS, () =>
      asked.get(id)?.reject(new Outage('the parent does not answer')),
    );
    tell({ kind: 'ask', id, question });
    return answer.finally(() => {
      cancel();
      asked.delete(id);
    }) as Promise<T>;
  };

  let ownMetrics = async () => '';
  const order = new Promise<Order>((resolve) => {
    worker.on('message', async (message: ToChild) => {
      if (message.kind === 'answer') asked.get(message.id)?.resolve(message.answer);
      else if (message.kind === 'order') resolve(message.order);
      else if (message.kind === 'ping') tell({ kind: 'pong' });
      else tell({ kind: 'metrics', text: await ownMetrics() });
    });
  });
  tell({ kind: 'hello' });

  const counted = new Batcher<Call, RateDecision>(CALLS_MAX, (calls) => ask({ about: 'rates', calls }));
  return {
    order: await order,
    serving: (url) => tell({ kind: 'serving', url }),
    limits: { take: (who, limit) => counted.submit({ who, limit }) },
    shareMetrics(own) {
      ownMetrics = own;
      return () => ask<string>({ about: 'metrics' }).catch(own);
    },
    delivers: () => ask({ about: 'delivering' }),
  };
}
