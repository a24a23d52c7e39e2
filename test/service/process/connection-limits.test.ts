import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { enterPartner } from '../../support/practice-guest.ts';
import { type Harness, serviceForTests, startHarness } from '../../support/service.ts';
import { head } from '../../support/wire.ts';

const TLS = {
  PORTER_TLS_CERT: fileURLToPath(new URL('../../support/tls/cert.pem', import.meta.url)),
  PORTER_TLS_KEY: fileURLToPath(new URL('../../support/tls/key.pem', import.meta.url)),
};

/** A connection from an address of this machine, such as 127.0.0.2, that says nothing by itself. */
function open(house: Harness, from = '127.0.0.1'): { socket: Socket; isOpen(): boolean; heard(): string } {
  const { port } = new URL(house.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1', localAddress: from });
  let text = '';
  let closed = false;
  socket.on('data', (bytes) => {
    text += bytes;
  });
  socket.on('error', () => {}).on('close', () => (closed = true));
  onTestFinished(() => void socket.destroy());
  return { socket, isOpen: () => !closed, heard: () => text };
}

/** Asks, and returns when there is an answer. */
async function ask(line: ReturnType<typeof open>, headers: Record<string, string> = {}): Promise<string> {
  const before = line.heard().length;
  line.socket.write(head('GET', '/v1/practice-groups', headers));
  await expect.poll(() => !line.isOpen() || /\r\n\r\n.*\}$/s.test(line.heard().slice(before))).toBe(true);
  return line.heard().slice(before, before + 12);
}

const OK = 'HTTP/1.1 200';
const UNKNOWN = 'HTTP/1.1 401';

describe('connections from one address', () => {
  it('are limited: the oldest without a valid key gives way, and one with a valid key never does', async () => {
    const { house, world } = await serviceForTests({ env: { PORTER_CONNECTIONS_PER_ADDRESS_MAX: '70' } });
    // What the test itself has open comes from 127.0.0.1.
    const lines = Array.from({ length: 70 }, () => open(house, '127.0.0.9'));
    expect(new Set(await Promise.all(lines.map((line) => ask(line))))).toEqual(new Set([UNKNOWN]));
    const credentials = { 'x-api-key': world.key, 'x-practice-group-id': world.groupId };
    const valid = open(house, '127.0.0.9');
    expect(await ask(valid, credentials)).toBe(OK);
    expect(lines.filter((line) => line.isOpen())).toHaveLength(69);
    expect(await ask(open(house, '127.0.0.10'), credentials)).toBe(OK);
    const { text } = await house.send('GET', '/metrics');
    expect(text).toContain('porter_http_connections_refused_total 1\n');

    for (let n = 0; n < 70; n++) expect(await ask(open(house, '127.0.0.9'))).toBe(UNKNOWN);
    expect(lines.filter((line) => line.isOpen())).toEqual([]);
    expect(await ask(valid, credentials)).toBe(OK);
  });

  it('are not limited for a trusted proxy', async () => {
    const { house } = await serviceForTests({
      env: { PORTER_CONNECTIONS_PER_ADDRESS_MAX: '2', PORTER_TRUST_PROXY: '127.0.0.0/8' },
    });
    const lines = Array.from({ length: 20 }, () => open(house, '127.0.0.9'));
    for (const line of lines) expect(await ask(line, { 'x-forwarded-proto': 'https' })).toBe(UNKNOWN);
  });

  it('are limited before TLS begins', async () => {
    const house = await startHarness({ env: { ...TLS, PORTER_CONNECTIONS_PER_ADDRESS_MAX: '2' } });
    const lines = Array.from({ length: 3 }, () => open(house, '127.0.0.9'));
    await expect.poll(() => lines.filter((line) => line.isOpen()).length).toBe(2);
    expect((await house.send('GET', '/v1/practice-groups')).status).toBe(401);
  });
});

/** Strangers, until there are so many connections. */
async function crowd(house: Harness, inAll: number) {
  const { server } = house.service;
  const count = () => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n)));
  const strangers: ReturnType<typeof open>[] = [];
  while ((await count()) < inAll) {
    strangers.push(open(house, '127.0.0.9'));
    await once(server, 'connection');
  }
  return strangers;
}

describe('connections in all', () => {
  it('never one of somebody who was invited into the console', async () => {
    const { house, world } = await serviceForTests({ env: { PORTER_CONNECTIONS_MAX: '70' } });
    const { cookie } = await enterPartner(house, world.partnerId);
    const guest = open(house, '127.0.0.7');
    guest.socket.write(head('GET', '/portal/v1/status', { cookie, 'x-porter-console': '1' }));
    await expect.poll(guest.heard).toContain(OK);
    const strangers = await crowd(house, 70);
    open(house, '127.0.0.8');
    await expect.poll(() => strangers[0]?.isOpen()).toBe(false);
    expect(guest.isOpen()).toBe(true);
  });

  it.each([
    ['plain', {}],
    ['over TLS', TLS],
  ])(
    'are so many at most: the oldest of a stranger gives way, never one of a caller with a key (%s)',
    async (_how, tls) => {
      const { house, world } = await serviceForTests({ env: { ...tls, PORTER_CONNECTIONS_MAX: '70' } });
      // The test's own connections have shown a token. From here on only strangers come.
      const strangers = await crowd(house, 70);
      const newest = open(house, '127.0.0.8');
      await expect.poll(() => strangers[0]?.isOpen()).toBe(false);
      expect(strangers.slice(1).every((line) => line.isOpen())).toBe(true);
      expect(newest.isOpen()).toBe(true);
      const answer = await house.send('GET', '/v1/practice-groups', {
        key: world.key,
        group: world.groupId,
      });
      expect(answer.status).toBe(200);
    },
  );
});

describe('connections that take their time', () => {
  it('end after ten seconds: without a byte, with slow headers, and in the middle of TLS', async () => {
    const house = await startHarness();
    const secure = await startHarness({ env: TLS });
    const silent = open(house);
    const slow = open(house);
    slow.socket.write('GET / HTTP/1.1\r\n');
    const dripping = setInterval(() => slow.socket.write('x-a: b\r\n'), 500);
    onTestFinished(() => clearInterval(dripping));
    const unsaid = open(secure);
    const begun = open(secure);
    begun.socket.write(Buffer.from('16030100c8010000c40303', 'hex'));
    const all = [silent, slow, unsaid, begun];
    const started = performance.now();
    await Promise.all(all.map(async ({ isOpen }) => expect.poll(isOpen).toBe(false)));
    expect(performance.now() - started).toBeGreaterThan(9_000);
    expect(slow.heard()).toMatch(/^HTTP\/1\.1 408 /);
    expect(begun.heard()).toBe('');
  });
});
