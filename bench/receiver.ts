import { createServer, type Socket } from 'node:net';

/**
 * A receiver in a process of its own: `node bench/receiver.ts [port]`. It prints its port when ready. It answers 204 to
 * everything, never to `/hang…`, and tells on GET how many deliveries came, and how long after `sent` in the body.
 *
 * A partner's receiver runs on the partner's machine. This one has to share the cores with what is measured, so it does no
 * more than find where a request ends: with a whole HTTP server it took a third of the time of a core.
 */
let latencies: number[] = [];
let received = 0;
const now = () => performance.timeOrigin + performance.now();
const SENT = Buffer.from('"id":"sent-');
const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('content-length: ');
const RECEIVED = Buffer.from('HTTP/1.1 204 No Content\r\nkeep-alive: timeout=60\r\n\r\n');

const server = createServer({ noDelay: true }, (socket) => {
  let begun: Buffer | undefined;
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    const bytes = begun ? Buffer.concat([begun, chunk]) : chunk;
    const end = bytes.indexOf(HEAD_END);
    if (end < 0 || bytes.length < end + HEAD_END.length + bodyLength(bytes)) {
      begun = bytes;
      return;
    }
    begun = undefined;
    answer(socket, bytes);
  });
});

function bodyLength(bytes: Buffer): number {
  const at = bytes.indexOf(LENGTH);
  return at < 0
    ? 0
    : Number.parseInt(bytes.toString('latin1', at + LENGTH.length, at + LENGTH.length + 8), 10);
}

/** The client sends one request at a time on a connection, so these bytes are one. */
function answer(socket: Socket, request: Buffer): void {
  if (request.subarray(0, 5).equals(GET)) {
    const body = JSON.stringify({ latencies, received });
    latencies = [];
    received = 0;
    socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    return;
  }
  const path = request.toString('latin1', POST.length, POST.length + 3);
  if (path === '/ha') return;
  received++;
  if (path === '/ti') {
    const at = request.indexOf(SENT) + SENT.length;
    if (at >= SENT.length) latencies.push(now() - Number.parseFloat(request.toString('latin1', at, at + 20)));
  }
  socket.write(RECEIVED);
}

const GET = Buffer.from('GET /');
const POST = 'POST ';

server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' && address ? address.port : 0}\n`);
});
