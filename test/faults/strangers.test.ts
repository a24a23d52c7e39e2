import { connect, type Socket } from 'node:net';
import { Agent } from 'undici';
import { expect, it, onTestFinished } from 'vitest';
import { freePort, startPorter } from '../support/porter-process.ts';
import { createUpToDateDatabase, makeWorld, OPERATOR_TOKEN, sender } from '../support/service.ts';
import { head } from '../support/wire.ts';

const MIB = 1024 * 1024;

/** What brought an earlier version to 1.9 GB, and `/healthz` to 6 s. `npm run bench -- door` has the latency beside such a load. */
it('600 strangers with bodies of 2 MiB that do not end: memory stays small, and callers with a key are served', async () => {
  const port = await freePort();
  const porter = await startPorter(port, { DATABASE_URL: await createUpToDateDatabase() });
  const agent = new Agent({ connections: 8 });
  onTestFinished(() => agent.close());
  const send = sender(porter.url, agent);
  const { key, groupId: group } = await makeWorld({
    async operator(method, path, body) {
      return (await send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body })).body;
    },
  });
  const residentMib = async () => {
    const { text } = await send('GET', '/metrics');
    return Number(/^porter_process_resident_bytes (\d+)/m.exec(text)?.[1]) / MIB;
  };
  await residentMib();
  const before = await residentMib();

  const begin = head('POST', '/operator/v1/events', { 'content-length': String(2 * MIB) });
  const almost = Buffer.alloc(2 * MIB - 1, ' ');
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const sent = Array.from({ length: 600 }, (_, n) => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${2 + (n % 3)}` });
    sockets.push(socket.on('error', () => {}));
    return new Promise((taken) => {
      socket.write(begin);
      socket.write(almost, taken);
    });
  });
  await Promise.all(sent);
  // Only now: this process has been busy with sending. The service is still reading.
  const times: number[] = [];
  let mostMib = await residentMib();
  for (let n = 0; n < 100; n++) {
    const started = performance.now();
    expect((await send('GET', '/v1/practice-groups', { key, group })).status).toBe(200);
    times.push(performance.now() - started);
    mostMib = Math.max(mostMib, await residentMib());
  }
  console.log(
    `strangers: ${Math.round(before)} MiB before, ${Math.round(mostMib)} MiB at most; 100 calls beside, the slowest ${Math.round(Math.max(...times))} ms`,
  );
  // Kept, they would be 1,200 MiB.
  expect(mostMib - before).toBeLessThan(200);
});
