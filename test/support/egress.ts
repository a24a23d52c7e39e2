import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import {
  createEgress,
  type Egress,
  type PostOutcome,
  type PostRequest,
} from '../../src/platform/egress/egress.ts';
import { type Receiver, startReceiver } from './receiver.ts';

/** The way out as tests use it: real sockets on the loopback, and everything gone with the test. */

/** For a test in which the deadline passes. Whoever expects an answer has the usual one: a busy machine needs more than this. */
export const SHORT_MS = 300;

export const pem = (name: string) => readFileSync(new URL(`tls/${name}.pem`, import.meta.url), 'utf8');

export function testEgress(options: Partial<Parameters<typeof createEgress>[0]> = {}): Egress {
  const egress = createEgress({ targets: 'loopback', ...options });
  onTestFinished(() => egress.close());
  return egress;
}

/**
 * What comes of a request that has this long. It must come within a second after that, by a timer of this process that is set when the
 * deadline has passed: where the machine is late, so is the timer.
 */
export async function postWithin(
  timeoutMs: number,
  request: PostRequest,
  options: Partial<Parameters<typeof createEgress>[0]> = {},
): Promise<PostOutcome> {
  const settled = new AbortController();
  const unlessSettled = { signal: settled.signal };
  const tooLate = (async () => {
    await pause(timeoutMs, undefined, unlessSettled);
    await pause(1_000, undefined, unlessSettled);
    throw new Error(`nothing came of it a second after its deadline of ${timeoutMs} ms`);
  })();
  try {
    return await Promise.race([testEgress({ ...options, timeoutMs }).post(request), tooLate]);
  } finally {
    tooLate.catch(() => {});
    settled.abort();
  }
}

export async function testReceiver(options: Parameters<typeof startReceiver>[0] = {}): Promise<Receiver> {
  const receiver = await startReceiver(options);
  onTestFinished(() => receiver.close());
  return receiver;
}

/** A server that speaks whatever the test makes it speak; its port. */
export async function testServer(connected: (socket: Socket) => void): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}));
    connected(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

export const postTo = (url: string, body = '{"event":"appointment.confirmed"}') => ({
  url,
  headers: { 'content-type': 'application/json', 'webhook-id': 'dlv_1_1' },
  body,
});
