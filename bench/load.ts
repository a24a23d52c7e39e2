import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isInstalled } from './installed.ts';

/**
 * A load generator that costs little: raw sockets, requests made beforehand, answers cut by their Content-Length.
 * A client that parses like a browser would be the bottleneck, and every ratio would look like 1.
 */
export interface Load {
  port: number;
  /** The whole request for a connection's next turn; undefined: there is nothing more to ask. */
  request: (connection: number, turn: number) => Buffer | undefined;
  connections: number;
  milliseconds: number;
  /** Keeps this process awake: otherwise waking it is charged to whoever answers, and the slower side pays more often. */
  awake?: boolean;
  /** Whether to note how long each answer took. */
  timed?: boolean;
}

export interface Outcome {
  perSecond: number;
  statuses: Map<string, number>;
  /** Of a load that is timed. */
  latenciesMs: number[];
}

/**
 * Before this nothing is counted: connections are made, and the door asks for what it forgot while others had their turn. A service
 * under load does that once a second and not all at once.
 */
const LEAD_MS = 100;

export async function drive(load: Load): Promise<Outcome> {
  const { port, request, connections, milliseconds, awake, timed } = load;
  const statuses = new Map<string, number>();
  const latenciesMs: number[] = [];
  let answered = 0;
  let running = true;
  let started = 0;
  setTimeout(() => {
    answered = 0;
    latenciesMs.length = 0;
    started = performance.now();
  }, LEAD_MS);
  setTimeout(() => {
    running = false;
  }, LEAD_MS + milliseconds);
  const spin = () => void (running && setImmediate(spin));
  if (awake) spin();

  const one = (connection: number) =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let turn = 0;
      let asked = 0;
      let isDone = false;
      const ask = () => {
        const next = running ? request(connection, turn++) : undefined;
        isDone = next === undefined;
        if (timed) asked = performance.now();
        if (next) socket.write(next);
        else socket.destroy();
      };
      socket.on('error', reject);
      socket.on('close', () => (isDone ? resolve() : reject(new Error('the service closed the connection'))));
      onAnswer(socket, (status) => {
        answered++;
        if (timed) latenciesMs.push(performance.now() - asked);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        ask();
      });
      ask();
    });
  await Promise.all(Array.from({ length: connections }, (_, connection) => one(connection)));
  return { perSecond: (answered * 1000) / (performance.now() - started), statuses, latenciesMs };
}

const HEADERS_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('ontent-length: ');

/** Cuts the answers out of the stream. Plain callbacks and no text: this runs on the core that PostgreSQL needs. */
function onAnswer(socket: Socket, told: (status: string) => void): void {
  let pending: Buffer | undefined;
  socket.on('data', (chunk: Buffer) => {
    const bytes = pending ? Buffer.concat([pending, chunk]) : chunk;
    pending = bytes;
    const end = bytes.indexOf(HEADERS_END);
    if (end < 0) return;
    let at = bytes.indexOf(LENGTH) + LENGTH.length;
    let length = 0;
    for (let digit = bytes[at] ?? 0; digit >= 48 && digit <= 57; digit = bytes[++at] ?? 0)
      length = length * 10 + digit - 48;
    if (bytes.length < end + HEADERS_END.length + length) return;
    pending = undefined;
    told(bytes[9] === 50 && bytes[10] === 48 && bytes[11] === 48 ? '200' : bytes.toString('latin1', 9, 12));
  });
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

export const hasWrk = () => isInstalled('wrk', '-v');

/**
 * One connection for a second, by wrk. One call at a time is mostly waking up, and that of a caller in Node took a fifth of the
 * whole call; a crowd keeps its caller awake, and there the two told the same.
 */
export async function wrk(port: number, requests: readonly Buffer[], folder: string): Promise<number> {
  const script = join(folder, 'wrk.lua');
  const texts = requests.map((request) => JSON.stringify(request.toString('latin1')));
  writeFileSync(
    script,
    `local requests = {${texts.join(',')}}
     local turn = 0
     function request() turn = turn % #requests + 1; return requests[turn] end`,
  );
  const url = `http://127.0.0.1:${port}`;
  const { stdout } = await promisify(execFile)('wrk', ['-t', '1', '-c', '1', '-d', '1s', '-s', script, url]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`not only 200:\n${stdout}`);
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)?.[1]);
}
