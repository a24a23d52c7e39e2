import type { IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterwards } from './afterwards.ts';

type Message =
  | { type: 'listens'; port: number }
  | { type: 'accepted' | 'closed' }
  | { type: 'received'; path: string; headers: IncomingHttpHeaders };

/** A receiver whose queue of new connections is full: the kernel drops each SYN, and the sender repeats it, until `accept` is called. */
export interface FullReceiver {
  url: string;
  received: { path: string; headers: IncomingHttpHeaders }[];
  readonly openConnections: number;
  accept(): void;
}

const FILLERS = 8;

export async function startFullReceiver(): Promise<FullReceiver> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(new URL('./full-receiver-child.ts', import.meta.url), { workerData: gate });
  const received: FullReceiver['received'] = [];
  let open = 0;
  const port = await new Promise<number>((resolve) => {
    worker.on('message', (message: Message) => {
      if (message.type === 'listens') resolve(message.port);
      else if (message.type === 'received') received.push(message);
      else open += message.type === 'accepted' ? 1 : -1;
    });
  });
  const fillers = Array.from({ length: FILLERS }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await new Promise((resolve) => fillers[0]?.once('connect', resolve));
  // The queue keeps the connections that it holds.
  for (const socket of fillers) socket.destroy();
  const accept = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  afterwards(async () => {
    accept();
    await worker.terminate();
  });
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    get openConnections() {
      return open;
    },
    accept,
  };
}

/** Counts the connections that this process is making. */
export const connecting = () =>
  process.getActiveResourcesInfo().filter((name) => name.endsWith('ConnectWrap')).length;
