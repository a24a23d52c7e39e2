import { describe, expect, it } from 'vitest';
import { readRequest } from '../../src/cli/verify/captured.ts';
import { newSecret, secretBytes, signedHeaders } from '../../src/domain/signature.ts';
import { porter, start, temporaryFolder } from '../support/cli.ts';

const NOW = 1_789_000_000;

describe('a raw HTTP request', () => {
  const lines = ['POST /hooks HTTP/1.1', 'Host: localhost', 'Webhook-Id: dlv_1', 'Content-Length: 2'];

  it.each([
    ['\r\n', ''],
    ['\n', ''],
    ['\n', '\n'],
  ])('is read with line breaks %j and %j after its end', (end, rest) => {
    const { headers, body } = readRequest(Buffer.from(`${lines.join(end)}${end}${end}{}${rest}`));
    expect([...headers]).toEqual([
      ['Host', 'localhost'],
      ['Webhook-Id', 'dlv_1'],
      ['Content-Length', '2'],
    ]);
    expect(body.toString()).toBe('{}');
  });
});

describe('porter verify', () => {
  const body = Buffer.from('{"object":"Appointment","id":"äpt_1","event":"appointment.confirmed"}');
  const secret = newSecret((count) => Buffer.alloc(count, 7));
  const letter = { id: 'dlv_1_1', timestampSeconds: NOW, sequence: 1, body: body.toString() };
  const whole = { body, secret, headers: signedHeaders({ ...letter, secrets: [secretBytes(secret)] }) };
  const request = Buffer.concat([
    Buffer.from(
      `POST /hooks HTTP/1.1\r\n${Object.entries(whole.headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    ),
    whole.body,
  ]);
  const env = { WEBHOOK_SECRET: whole.secret };
  const at = new Date(NOW * 1000).toISOString();

  it('takes a whole request from stdin', async () => {
    const { code, stdout } = await porter(`verify --at ${at}`, { env, stdin: request.toString() });
    expect(stdout).toMatch(/^Genuine: signed with this secret/);
    expect(code).toBe(0);
  });

  it('takes parts, and tells programs what is wrong', async () => {
    const {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    } = whole.headers;
    const flags = ['--id', `${id}`, '--timestamp', `${timestamp}`, '--signature', `${signature}`, '--at', at];
    const { code, json } = await porter(['verify', ...flags, '--json'], { env, stdin: `${whole.body}\n` });
    expect(json).toMatchObject({ genuine: false, findings: [{ kind: 'body_reencoded' }] });
    expect(code).toBe(1);
  });

  it('says why in words, and ends with 1', async () => {
    const { code, stdout } = await porter('verify', { env, stdin: request.toString() });
    expect(stdout).toMatch(/^Not genuine\.\nIt was signed .* \[clock\]\n {2}.*--at/);
    expect(code).toBe(1);
  });

  it.each([
    ['verify', {}, /no secret/],
    ['verify --at noon', { env }, /not a time/],
    ['verify request.txt --body b', { env }, /either a whole request or its parts/],
    ['verify --headers - --body -', { env }, /cannot both come from stdin/],
    ['verify', { env, terminal: true }, /There is no request/],
  ])('%s with %o is a mistake of use', async (line, surroundings, says) => {
    const { code, stderr, stdout } = await porter(line, surroundings);
    expect(stderr).toMatch(says);
    expect([code, stdout]).toEqual([2, '']);
  });

  it('lets go of stdin at Ctrl-C', async () => {
    const reading = Promise.withResolvers<void>();
    async function* endless() {
      yield Buffer.from('POST');
      reading.resolve();
      await new Promise(() => {});
    }
    const running = start('verify', { env, stdin: endless() });
    await reading.promise;
    running.stop();
    expect(await running.ended).toBe(130);
    expect(running.stdout() + running.stderr()).toBe('');
  });

  it('names a file that it cannot read', async () => {
    const { code, stderr } = await porter('verify request.txt', { env, cwd: temporaryFolder() });
    expect(stderr).toContain('request.txt cannot be read (ENOENT)');
    expect(code).toBe(1);
  });
});
