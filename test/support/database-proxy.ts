import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterwards } from './afterwards.ts';

/** The way to the database, which can be cut. */
export interface DatabaseProxy {
  /** The database through it. */
  url: string;
  /** `broken`: connections end and none is made. `silent`: nothing arrives any more, and nobody is told. `mute`: no answer arrives. */
  cut(how: 'broken' | 'silent' | 'mute'): void;
  /** Connections can be made again. */
  mend(): void;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const open = new Set<Socket>();
  let state: 'open' | 'broken' | 'silent' | 'mute' = 'open';
  const server = createServer((client) => {
    open.add(client);
    client.on('error', () => {});
    if (state === 'broken') client.destroy();
    if (state !== 'open') return;
    const there = connect(Number(target.port || 5432), target.hostname);
    open.add(there);
    there.on('error', () => {});
    for (const [from, to] of [
      [client, there],
      [there, client],
    ] as const) {
      const passes = () => state === 'open' || (state === 'mute' && from === client);
      from.on('data', (bytes) => passes() && to.write(bytes));
      from.on('close', () => state !== 'silent' && to.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(databaseUrl);
  through.hostname = '127.0.0.1';
  through.port = String((server.address() as AddressInfo).port);
  afterwards(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  return {
    url: through.href,
    cut(how) {
      state = how;
      if (how === 'broken') for (const socket of open) socket.destroy();
    },
    mend() {
      state = 'open';
    },
  };
}
