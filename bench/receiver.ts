import { createServer } from 'node:http';

/**
 * A receiver in a process of its own: `node bench/receiver.ts`. It prints its port when ready. It answers 204 to
 * everything, never to `/hang…`, and tells on `GET /latencies` how long after `sent` in the body each letter came.
 */
let latencies: number[] = [];
const now = () => performance.timeOrigin + performance.now();
const SENT = Buffer.from('"id":"sent-');

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(latencies));
    latencies = [];
    return;
  }
  if (request.url?.startsWith('/hang')) return;
  request.on('data', (chunk: Buffer) => {
    if (!request.url?.startsWith('/timed')) return;
    const at = chunk.indexOf(SENT);
    if (at >= 0)
      latencies.push(
        now() - Number.parseFloat(chunk.toString('latin1', at + SENT.length, at + SENT.length + 20)),
      );
  });
  request.on('end', () => response.writeHead(204).end());
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' && address ? address.port : 0}\n`);
});
