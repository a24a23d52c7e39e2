import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  pem,
  postTo,
  postWithin,
  SHORT_MS,
  testEgress,
  testReceiver,
  testServer,
} from '../../support/egress.ts';

const secureReceiver = () => testReceiver({ tls: { cert: pem('good'), key: pem('key') } });
const named = (url: string) => url.replace('localhost', 'receiver.example.com');
const dnsError = (code: string) => Object.assign(new Error(`query ${code}`), { code });

describe('a name that resolves to', () => {
  it.each([
    ['10.0.0.1'],
    ['127.0.0.1'],
    ['169.254.169.254'],
    ['0.0.0.0'],
    ['100.64.0.1'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['::ffff:10.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['2002:7f00:1::1'],
    ['fd00:ec2::254'],
    ['fe80::1%lo'],
    ['not an address'],
  ])('%s is not dialled', async (address) => {
    const egress = testEgress({ targets: 'public', lookup: async () => [address] });
    const outcome = await egress.post(postTo('https://receiver.example.com:8443/'));
    expect(outcome).toMatchObject({
      status: undefined,
      failure: {
        phase: 'address',
        code: 'address_refused',
        detail: 'receiver.example.com does not resolve to a public address.',
      },
    });
    expect(JSON.stringify(outcome)).not.toContain(address);
  });

  it('several that are all private is not dialled', async () => {
    const egress = testEgress({ lookup: async () => ['10.0.0.1', '192.168.0.1', 'fd00::1'] });
    const { failure } = await egress.post(postTo('https://receiver.example.com/'));
    expect(failure?.detail).toBe('receiver.example.com does not resolve to a public address.');
  });

  it('private and allowed ones: only those allowed are dialled', async () => {
    const receiver = await secureReceiver();
    const egress = testEgress({
      ca: pem('ca'),
      lookup: async () => ['10.0.0.1', '::ffff:127.0.0.1', '127.0.0.1', '0.0.0.0'],
    });
    expect((await egress.post(postTo(named(receiver.url)))).status).toBe(200);
    await receiver.setBehaviour('refuse');
    const { port } = new URL(receiver.url);
    expect((await egress.post(postTo(named(receiver.url)))).failure).toEqual({
      phase: 'connect',
      code: 'connection_refused',
      detail: `127.0.0.1:${port}`,
    });
  });

  it('one thing now and another later: each connection is judged by the answer that it is made with', async () => {
    const receiver = await secureReceiver();
    const answers = [['127.0.0.1'], ['10.0.0.1'], ['127.0.0.1']];
    const asked: string[] = [];
    const egress = testEgress({
      ca: pem('ca'),
      lookup: async (host) => {
        asked.push(host);
        return answers[asked.length - 1] ?? [];
      },
    });
    const post = () => egress.post(postTo(named(receiver.url)));
    expect((await post()).status).toBe(200);
    // The connection is still there, so nobody asks again.
    expect((await post()).status).toBe(200);
    expect(asked).toEqual(['receiver.example.com']);
    receiver.cutConnections();
    await expect.poll(() => receiver.openConnections).toBe(0);
    expect((await post()).failure?.code).toBe('address_refused');
    expect((await post()).status).toBe(200);
    expect(asked).toHaveLength(3);
    expect(receiver.received).toHaveLength(3);
  });

  it('an address where nobody listens and one where somebody does', async () => {
    const receiver = await secureReceiver();
    const egress = testEgress({ ca: pem('ca'), lookup: async () => ['::1', '127.0.0.1'] });
    expect((await egress.post(postTo(named(receiver.url)))).status).toBe(200);
  });
});

describe('a name that does not resolve', () => {
  it.each<[string, () => Promise<string[]>, string, string]>([
    ['does not exist', () => Promise.reject(dnsError('ENOTFOUND')), 'dns_not_found', 'a.example.com'],
    ['has no address', async () => [], 'dns_not_found', 'a.example.com'],
    [
      'has servers that fail',
      () => Promise.reject(dnsError('ESERVFAIL')),
      'dns_failed',
      'a.example.com: ESERVFAIL',
    ],
    ['has slow servers', () => Promise.reject(dnsError('ETIMEOUT')), 'dns_timeout', 'a.example.com'],
    ['has silent servers', () => new Promise(() => {}), 'dns_timeout', 'a.example.com'],
    ['breaks the resolver', () => Promise.reject('broken'), 'dns_failed', 'a.example.com: broken'],
  ])('because it %s', async (_what, lookup, code, detail) => {
    const { failure } = await postWithin(SHORT_MS, postTo('https://a.example.com/'), { lookup });
    expect(failure).toEqual({ phase: 'dns', code, detail });
  });

  it('by the real name servers, within the deadline', async () => {
    const outcome = await postWithin(SHORT_MS, postTo('https://no-such-host.invalid/'), {
      targets: 'public',
    });
    expect(outcome.failure?.phase).toBe('dns');
  });

  it('an answer that comes after the deadline is not used', async () => {
    const callers: (number | undefined)[] = [];
    const port = await testServer(({ remotePort }) => callers.push(remotePort));
    let answer: (addresses: string[]) => void = () => {};
    const lookup = () => new Promise<string[]>((resolve) => (answer = resolve));
    const egress = testEgress({ lookup, timeoutMs: SHORT_MS });
    expect((await egress.post(postTo(`https://a.example.com:${port}/`))).failure?.code).toBe('dns_timeout');
    answer(['127.0.0.1']);
    // A connection that is made after it arrives after it.
    await new Promise(setImmediate);
    const own = connect(port, '127.0.0.1');
    onTestFinished(() => void own.destroy());
    await once(own, 'connect');
    await expect.poll(() => callers).toContain(own.localPort);
    expect(callers).toEqual([own.localPort]);
  });
});

describe('what needs no name server', () => {
  const nobodyAsks = () => Promise.reject(new Error('asked'));

  it('an address', async () => {
    const receiver = await testReceiver();
    const egress = testEgress({ lookup: nobodyAsks });
    expect((await egress.post(postTo(receiver.url.replace('localhost', '127.0.0.1')))).status).toBe(200);
  });

  it('this machine', async () => {
    const receiver = await testReceiver();
    const url = receiver.url.replace('localhost', 'app.localhost');
    expect((await testEgress().post(postTo(url))).status).toBe(200);
  });
});
