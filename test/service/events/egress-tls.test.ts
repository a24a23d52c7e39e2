import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { describe, expect, it, onTestFinished } from 'vitest';
import { pem, postTo, testEgress, testReceiver, testServer } from '../../support/egress.ts';

const receiverWith = (cert: string) => testReceiver({ tls: { cert: pem(cert), key: pem('key') } });

async function tlsServer(options: TlsOptions, connected: (socket: TLSSocket) => void): Promise<number> {
  const server = createServer({ cert: pem('good'), key: pem('key'), ...options }, (socket) => {
    connected(socket.on('error', () => {}));
    socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('a certificate that is right', () => {
  it('for the name, and for the address', async () => {
    const receiver = await receiverWith('good');
    const egress = testEgress({ ca: pem('ca') });
    const { port } = new URL(receiver.url);
    for (const host of ['localhost', '127.0.0.1'])
      expect(await egress.post(postTo(`https://${host}:${port}/`))).toMatchObject({
        status: 200,
        failure: undefined,
      });
    expect(receiver.received).toHaveLength(2);
  });

  it('connections are used again', async () => {
    const receiver = await receiverWith('good');
    const egress = testEgress({ ca: pem('ca') });
    for (let n = 0; n < 10; n++) expect((await egress.post(postTo(receiver.url))).status).toBe(200);
    expect(receiver.connections).toBe(1);
  });

  it('the name is told in the handshake, and only HTTP/1.1 is spoken', async () => {
    const seen: unknown[] = [];
    const port = await tlsServer({ ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      seen.push([socket.servername, socket.alpnProtocol]);
    });
    const egress = testEgress({ ca: pem('ca'), lookup: async () => ['127.0.0.1'] });
    for (const host of ['receiver.example.com', '127.0.0.1'])
      expect((await egress.post(postTo(`https://${host}:${port}/`))).status).toBe(204);
    expect(seen).toEqual([
      ['receiver.example.com', 'http/1.1'],
      [false, 'http/1.1'],
    ]);
  });
});

describe('a certificate that is wrong', () => {
  const WRONG: [string, string, string][] = [
    ['expired', 'tls_certificate_expired', '2024-05-01'],
    ['not-yet-valid', 'tls_certificate_not_yet_valid', 'certificate is not yet valid'],
    ['self-signed', 'tls_self_signed', 'self-signed certificate'],
    ['wrong-host', 'tls_hostname_mismatch', 'localhost, but it is for elsewhere.example.com'],
  ];

  it.each(WRONG)('%s', async (cert, code, detail) => {
    const receiver = await receiverWith(cert);
    const outcome = await testEgress({ ca: pem('ca') }).post(postTo(receiver.url));
    expect(outcome).toMatchObject({ status: undefined, failure: { phase: 'tls', code, detail } });
    expect(receiver.received).toEqual([]);
  });

  it('from an authority that nobody knows', async () => {
    const receiver = await receiverWith('good');
    const { failure } = await testEgress().post(postTo(receiver.url));
    expect(failure).toMatchObject({ phase: 'tls', code: 'tls_untrusted' });
    expect(receiver.received).toEqual([]);
  });

  it('for another address', async () => {
    const receiver = await receiverWith('good');
    const url = receiver.url.replace('localhost', '127.0.0.2');
    const port = await tlsServer({}, () => {});
    const { failure } = await testEgress({ ca: pem('ca'), lookup: async () => ['127.0.0.1'] }).post(
      postTo(`https://other.example.com:${port}/`),
    );
    expect(failure).toMatchObject({ code: 'tls_hostname_mismatch' });
    expect((await testEgress({ ca: pem('ca') }).post(postTo(url))).failure).toBeDefined();
  });

  it('is refused whatever the environment says', async () => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    onTestFinished(() => void delete process.env.NODE_TLS_REJECT_UNAUTHORIZED);
    for (const [cert, code] of WRONG) {
      const receiver = await receiverWith(cert);
      expect((await testEgress({ ca: pem('ca') }).post(postTo(receiver.url))).failure?.code).toBe(code);
      expect(receiver.received).toEqual([]);
    }
  });
});

describe('TLS that does not come about', () => {
  it('because the receiver speaks only old versions', async () => {
    const port = await tlsServer(
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      () => {},
    );
    const { failure } = await testEgress({ ca: pem('ca') }).post(postTo(`https://localhost:${port}/`));
    expect(failure).toMatchObject({ phase: 'tls', code: 'tls_failed' });
    expect(failure?.detail).toMatch(/protocol version/);
  });

  it('because the receiver speaks plain HTTP', async () => {
    const receiver = await testReceiver();
    const { failure } = await testEgress().post(postTo(receiver.url.replace('http:', 'https:')));
    expect(failure).toMatchObject({ phase: 'tls', code: 'tls_failed' });
  });

  it.each<[string, Parameters<typeof testServer>[0]]>([
    ['closes', (socket) => void socket.once('data', () => socket.end())],
    ['resets', (socket) => void socket.once('data', () => socket.resetAndDestroy())],
    ['talks nonsense', (socket) => void socket.once('data', () => socket.write('SSH-2.0-OpenSSH\r\n'))],
  ])('because the receiver %s', async (_what, connected) => {
    const port = await testServer(connected);
    const { failure } = await testEgress().post(postTo(`https://localhost:${port}/`));
    expect(failure).toMatchObject({ phase: 'tls', code: 'tls_failed' });
    expect(failure?.detail).not.toBe('');
  });
});
