import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startHarness } from '../../support/service.ts';
import { head } from '../../support/wire.ts';

const house = await startHarness();

/** Both ends of a connection whose caller closes it only after the test, whatever it is told. */
async function openStubborn(): Promise<{ caller: Socket; ours: Socket }> {
  const { hostname, port } = new URL(house.url);
  const connected = once(house.service.server, 'connection');
  const caller = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  caller.on('error', () => {});
  onTestFinished(() => {
    caller.destroy();
  });
  const [ours] = await connected;
  return { caller, ours };
}

it('broken HTTP is told so, and its connection closed also when the other side does not close', async () => {
  const { caller, ours } = await openStubborn();
  const closed = once(ours, 'close');
  caller.write('nonsense\r\n\r\n');
  const [answer] = await once(caller, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
  await closed;
});

it('an answer that nobody takes is given up', async () => {
  const { text: page } = await house.send('GET', '/docs/api');
  const [, script = ''] = /"(\/docs\/assets\/\w+\/scalar\.js)"/.exec(page) ?? [];
  const { caller, ours } = await openStubborn();
  // Larger than all that systems keep for a reader.
  caller.pause().write(head('GET', script));
  await expect.poll(() => ours.writableLength).toBeGreaterThan(0);
  expect(ours.timeout).toBe(60_000);
  const closed = once(ours, 'close');
  ours.emit('timeout');
  await closed;
});

it('a connection whose answers are taken has no other time limit than before', async () => {
  const { caller, ours } = await openStubborn();
  caller.write(head('GET', '/docs/errors'));
  const [answer] = await once(caller, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  await expect.poll(() => ours.timeout).toBeGreaterThanOrEqual(72_000);
});
