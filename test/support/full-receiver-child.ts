import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';

/** The thread of full-receiver.ts: it listens, and accepts no connection until `gate` opens. */
const gate: Int32Array<SharedArrayBuffer> = workerData;

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    const { url: path, headers } = request;
    response.end();
    parentPort?.postMessage({ type: 'received', path, headers });
  });
});
server.on('connection', (socket) => {
  parentPort?.postMessage({ type: 'accepted' });
  socket.once('close', () => parentPort?.postMessage({ type: 'closed' }));
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort?.postMessage({ type: 'listens', port: (server.address() as AddressInfo).port });
  Atomics.wait(gate, 0, 0);
});
