import { connect, type Socket } from 'node:net';

/** One connection, spoken to in bytes and never replaced by another: what is said on it last proves that it survived. */
export interface Wire {
  write(bytes: string | Buffer): void;
  /** The next whole answer; fails when the server closes before it is complete. */
  answer(): Promise<WireAnswer>;
  /** Resolves when the server has closed the connection. */
  closed: Promise<void>;
  close(): void;
}

export interface WireAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

export async function openWire(url: string): Promise<Wire> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return speak(socket);
}

function speak(socket: Socket): Wire {
  let received: Buffer = Buffer.alloc(0);
  let ended = false;
  let wake = () => {};
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  // A server that closes while bytes are still on their way resets the connection: to a reader both are the end.
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      ended = true;
      wake();
      resolve();
    });
  });

  return {
    write: (bytes) => socket.write(bytes),
    async answer() {
      for (;;) {
        const whole = takeAnswer(received);
        if (whole) {
          received = whole.rest;
          return whole.answer;
        }
        if (ended) throw new Error(`the connection ended after: ${received.toString('latin1')}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    closed,
    close: () => socket.destroy(),
  };
}

/** Every answer of the service tells its length, so nothing else is understood here. */
function takeAnswer(bytes: Buffer): { answer: WireAnswer; rest: Buffer } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  const bodyStart = headEnd + 4;
  const bodyEnd = bodyStart + Number(headers['content-length'] ?? 0);
  if (bytes.length < bodyEnd) return undefined;
  const text = bytes.subarray(bodyStart, bodyEnd).toString();
  return {
    answer: { status: Number(statusLine.split(' ')[1]), headers, text },
    rest: bytes.subarray(bodyEnd),
  };
}

/** A request head: method and path first, then one header to a line. */
export function head(method: string, path: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\nhost: porter.test\r\n${lines.join('')}\r\n`;
}
