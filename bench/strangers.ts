import { connect, type Socket } from 'node:net';
import { formatKey } from '../src/domain/access/api-key.ts';
import { httpRequest } from './load.ts';

/**
 * 500 hostile connections in a process of their own: `node bench/strangers.ts <port>`. It says so when all of them are open, and
 * goes on until it is killed. A quarter each, from an address of its own: calls without a key, calls with keys that could be
 * somebody's, bodies of 2 MiB without a token, and headers that never end. Whoever is answered goes on at once, and whoever is
 * closed comes again.
 */
const port = Number(process.argv[2]);
const OF_EACH = 125;
const PATH = '/v1/practice-groups';

let guesses = 0;
const guess = () => formatKey('staging', String(++guesses).padStart(32, 'x'));
const body = httpRequest('POST', '/operator/v1/events', {}, ' '.repeat(2 * 1024 * 1024));
const keyless = httpRequest('GET', PATH, {});

const kinds: Record<string, (socket: Socket) => void> = {
  '127.0.0.2': (socket) => again(socket, () => keyless),
  '127.0.0.3': (socket) => again(socket, () => httpRequest('GET', PATH, { 'x-api-key': guess() })),
  '127.0.0.4': (socket) => again(socket, () => body),
  '127.0.0.5': (socket) => {
    socket.write('GET / HTTP/1.1\r\n');
    const drip = setInterval(() => socket.write('x-a: b\r\n'), 1_000);
    socket.once('close', () => clearInterval(drip));
  },
};

/** An answer is taken for whole when it has begun: they are short. */
function again(socket: Socket, next: () => Buffer): void {
  socket.on('data', () => socket.write(next()));
  socket.write(next());
}

let open = 0;
function hold(localAddress: string, attack: (socket: Socket) => void): void {
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
  socket.once('connect', () => {
    if (++open === Object.keys(kinds).length * OF_EACH) process.stdout.write('all are open\n');
    attack(socket);
  });
  socket.on('error', () => {});
  socket.once('close', () => setTimeout(hold, 10, localAddress, attack));
}

for (const [address, attack] of Object.entries(kinds))
  for (let n = 0; n < OF_EACH; n++) hold(address, attack);
