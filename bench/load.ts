import { connect, type Socket } from 'node:net';

/**
 * A load generator that costs little: raw sockets, requests made beforehand, answers cut by their Content-Length.
 * A client that parses like a browser would be the bottleneck, and every ratio would look like 1.
 */
export interface Load {
  port: number;
  /** The whole request for a connection's next turn. */
  request: (connection: number, turn: number) => Buffer;
  connections: number;
  milliseconds: number;
  /** Keeps this process awake: otherwise waking it is charged to whoever answers, and the slower side pays more often. */
  awake?: boolean;
}

export interface Outcome {
  perSecond: number;
  statuses: Map<string, number>;
}

export async function drive({ port, request, connections, milliseconds, awake }: Load): Promise<Outcome> {
  const statuses = new Map<string, number>();
  let answered = 0;
  let running = true;
  const started = performance.now();
  const stop = setTimeout(() => {
    running = false;
  }, milliseconds);

  const spin = () => void (running && setImmediate(spin));
  if (awake) spin();
  await Promise.all(
    Array.from({ length: connections }, async (_, connection) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      const answers = readAnswers(socket);
      for (let turn = 0; running; turn++) {
        socket.write(request(connection, turn));
        const status = await answers.next();
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        answered++;
      }
      socket.destroy();
    }),
  );
  clearTimeout(stop);
  return { perSecond: (answered * 1000) / (performance.now() - started), statuses };
}

const HEADERS_END = Buffer.from('\r\n\r\n');

function readAnswers(socket: Socket): { next: () => Promise<string> } {
  let pending = Buffer.alloc(0);
  let waiting: ((status: string) => void) | undefined;
  let fail: (error: Error) => void = () => {};
  socket.on('error', (error) => fail(error));
  socket.on('close', () => fail(new Error('the service closed the connection')));
  socket.on('data', (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const end = pending.indexOf(HEADERS_END);
    if (end < 0) return;
    const head = pending.toString('latin1', 0, end);
    const at = head.indexOf('ontent-length: ');
    const length = Number.parseInt(head.slice(at + 15, at + 25), 10);
    const whole = end + 4 + length;
    if (pending.length < whole) return;
    pending = pending.subarray(whole);
    waiting?.(head.slice(9, 12));
  });
  return {
    next: () =>
      new Promise((resolve, reject) => {
        waiting = resolve;
        fail = reject;
      }),
  };
}

export function httpRequest(
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Buffer {
  const lines = [`${method} ${path} HTTP/1.1`, 'host: 127.0.0.1'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body) lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}
