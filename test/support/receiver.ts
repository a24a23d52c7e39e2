import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

/** A receiver of webhooks, as well or badly behaved as a test wants. */

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** What it does with a request that has arrived whole; `refuse`: its port is closed. */
export type Behaviour = ((response: ServerResponse, request: ReceivedRequest) => void) | 'refuse';

export interface Receiver {
  url: string;
  /** Every request, in the order of their arrival. */
  received: ReceivedRequest[];
  /** Connections that were ever made, and those that are open. */
  readonly connections: number;
  readonly openConnections: number;
  /** Bytes that it has put on the wire so far. */
  readonly bytesSent: number;
  setBehaviour(behaviour: Behaviour): Promise<void>;
  /** Closes what is open now, as a receiver does with connections that were silent for long. */
  cutConnections(): void;
  close(): Promise<void>;
}

const METADATA = 'http://169.254.169.254/latest/meta-data/';

export const ok: Behaviour = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
};

export const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) => {
    response.writeHead(code, headers).end(body);
  };

/** Takes the request and never says a word. */
export const hang: Behaviour = () => {};

/** Begins well and then sends a byte at a time, for ever. */
export const slow: Behaviour = (response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write('.'), 20);
  response.once('close', () => clearInterval(timer));
};

/** Breaks off in the middle of an answer. */
export const closeMidway: Behaviour = (response) => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('half of', () => response.destroy());
};

export const huge =
  (bytes = 100_000_000): Behaviour =>
  (response) => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    let left = bytes;
    response.writeHead(200);
    const more = () => {
      while (left > 0) {
        left -= piece.length;
        if (!response.write(piece)) return;
      }
      response.end();
    };
    response.on('drain', more);
    more();
  };

/** Claims one length and sends another. */
export const lieLength =
  (claimed: number, sent: number): Behaviour =>
  ({ socket }) => {
    socket?.write(`HTTP/1.1 200 OK\r\ncontent-length: ${claimed}\r\n\r\n${'x'.repeat(sent)}`);
  };

export const redirect =
  (location = METADATA, code = 302): Behaviour =>
  (response) => {
    response.writeHead(code, { location }).end();
  };

/** Puts these bytes on the wire, whatever they are. */
export const say =
  (...parts: string[]): Behaviour =>
  ({ socket }) => {
    for (const part of parts) socket?.write(part, 'latin1');
  };

interface ReceiverOptions {
  behaviour?: Behaviour;
  /** PEM; without it the receiver speaks plain HTTP. */
  tls?: { cert: string; key: string };
}

export async function startReceiver({ behaviour = ok, tls }: ReceiverOptions = {}): Promise<Receiver> {
  const received: ReceivedRequest[] = [];
  const open = new Set<Socket>();
  let connections = 0;
  let bytesOfClosed = 0;
  let behave = behaviour;

  const server = tls ? createTlsServer(tls) : createServer();
  server.keepAliveTimeout = 60_000;
  server.on('request', async (request, response) => {
    const chunks = await request.toArray().catch(() => undefined);
    // Cut short by the sender, which happens when a test ends.
    if (!chunks) return;
    const whole: ReceivedRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    };
    received.push(whole);
    if (behave !== 'refuse') behave(response, whole);
  });
  server.on('connection', (socket: Socket) => {
    connections++;
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      open.delete(socket);
      bytesOfClosed += socket.bytesWritten;
    });
  });

  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const cutConnections = () => {
    for (const socket of open) socket.destroy();
  };
  const stop = async () => {
    if (!server.listening) return;
    server.close();
    cutConnections();
    await once(server, 'close');
  };

  await listen(0);
  const { port } = server.address() as AddressInfo;
  if (behave === 'refuse') await stop();

  return {
    url: `${tls ? 'https' : 'http'}://localhost:${port}/hook`,
    received,
    get connections() {
      return connections;
    },
    get openConnections() {
      return open.size;
    },
    get bytesSent() {
      return bytesOfClosed + [...open].reduce((sum, socket) => sum + socket.bytesWritten, 0);
    },
    async setBehaviour(next) {
      behave = next;
      if (next === 'refuse') await stop();
      else if (!server.listening) await listen(port);
    },
    cutConnections,
    close: stop,
  };
}
