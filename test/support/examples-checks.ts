import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { newSecret, secretBytes, signedHeaders } from '../../src/domain/events/signature.ts';
import { ROOT } from './examples.ts';
import { Background, run } from './examples-world.ts';
import { freePort } from './porter-process.ts';

/** What the programs in examples/ must do, whatever language they are written in. */

export const secret = newSecret(randomBytes);
export const otherSecret = newSecret(randomBytes);
export const body =
  '{"object":"Appointment","id":"äpt_1","practice_group_id":"riverside-surgery","event":"appointment.confirmed"}';

export function sign({ secrets = [secret], secondsAgo = 0, sequence = 1 } = {}) {
  return signedHeaders({
    id: `dlv_00VavrySW7QkzdE4DIp3JusJ3_${sequence}_00VavryCO`,
    timestampSeconds: Math.floor(Date.now() / 1000) - secondsAgo,
    sequence,
    body,
    secrets: secrets.map(secretBytes),
  });
}

const PATH = process.env.PATH ?? '';

/** Without a secret it says so, in a line. */
export async function checkNeedsSecret(command: string, program: string): Promise<void> {
  expect(await run(command, [program], { folder: ROOT, env: { PATH } })).toMatchObject({
    code: 1,
    stderr: 'Set WEBHOOK_SECRET to the secret of the webhook.\n',
  });
}

/** It answers 204 to what the service signed, acts once, and answers 401 to the rest. */
export async function checkReceiver(command: string, program: string): Promise<void> {
  const port = String(await freePort());
  const env = { PATH, WEBHOOK_SECRET: secret, PORT: port };
  const receiver = new Background(`exec ${command} ${program}`, { folder: ROOT, env });
  expect(await receiver.lines(1)).toBe('listening');
  const post = async (headers: Record<string, string>, text: string) =>
    (await fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', headers, body: text })).status;

  await hangUp(port);
  expect(await post(sign(), body.replace('confirmed', 'cancelled'))).toBe(401);
  expect(await post(sign({ secrets: [otherSecret] }), body)).toBe(401);
  expect(await post(sign({ secondsAgo: 400 }), body)).toBe(401);
  expect(await post({ ...sign(), 'webhook-timestamp': 'now' }, body)).toBe(401);
  expect(await post({ 'content-type': 'application/json' }, body)).toBe(401);
  expect(await post(sign(), body)).toBe(204);
  expect(await post(sign(), body)).toBe(204);
  expect(await post(sign({ secrets: [otherSecret, secret], sequence: 2 }), body)).toBe(204);
  const acted = 'verified appointment.confirmed Appointment äpt_1';
  expect(await receiver.lines(2)).toBe(`${acted}\n${acted}`);
  // It may close the connection while there is more to come.
  expect(await post(sign(), 'x'.repeat(2_000_000)).catch(() => 400)).toBe(400);
  expect(await receiver.stop()).not.toContain('verified');
}

/** Goes away in the middle of what it posts. */
export async function hangUp(port: string): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1');
  socket.end('POST /hooks HTTP/1.1\r\nhost: receiver\r\ncontent-length: 100\r\n\r\n{"e');
  socket.resume();
  await once(socket, 'close');
}

/** It waits for Retry-After, repeats what may pass, and returns what may not. */
export async function checkRetries(command: string, program: string): Promise<void> {
  const answers = [
    { status: 429, headers: { 'retry-after': '1' } },
    { status: 200, headers: { 'x-request-id': 'second' } },
    { status: 404, headers: { 'x-request-id': 'third' } },
  ];
  const asked: number[] = [];
  const server = createServer((_request, response) => {
    const { status, headers } = answers[asked.length] ?? { status: 500, headers: {} };
    asked.push(performance.now());
    response.writeHead(status, headers).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { PATH, PORTER_URL: url, PORTER_KEY: 'ptr_test_any' };
  const retry = async () => (await run(command, [program], { folder: ROOT, env })).stdout.trim();

  expect(await retry()).toBe('200 second');
  expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThanOrEqual(990);
  expect(await retry()).toBe('404 third');
  expect(asked).toHaveLength(3);

  const { code, stderr } = await run(command, [program], { folder: ROOT, env: { PATH, PORTER_URL: url } });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^Set PORTER_KEY to your API key\..*\n$/)]);
  expect(asked).toHaveLength(3);
}
