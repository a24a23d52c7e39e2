import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRequest } from '../../src/cli/verify/captured.ts';
import { newSecret, secretBytes, signedHeaders } from '../../src/domain/events/signature.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { porter, start } from '../support/cli.ts';

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

  const bodyOf = (header: string, text: string) =>
    readRequest(Buffer.from(`POST / HTTP/1.1\r\n${header}\r\n\r\n${text}`)).body.toString();

  it('is put together from its chunks', () => {
    const chunked = 'Transfer-Encoding: chunked';
    expect(bodyOf(chunked, '3\r\n{"a\r\nB;x=y\r\n":"\r\n bcde"\r\n1\r\n}\r\n0\r\n\r\n')).toBe(
      '{"a":"\r\n bcde"}',
    );
    expect(bodyOf(chunked, '2\n{}\n0\n\n')).toBe('{}');
    // What a framework logged has no sizes any more.
    expect(bodyOf(chunked, '{"a":1}')).toBe('{"a":1}');
    expect(bodyOf(chunked, '2\r\n{}')).toBe('2\r\n{}');
  });

  it.each(['-1', '1.5', 'x', ''])('is taken whole with a content-length of "%s"', (length) => {
    expect(bodyOf(`Content-Length: ${length}`, '{}')).toBe('{}');
  });

  it('keeps a header that came twice', () => {
    const { headers } = readRequest(Buffer.from('POST / HTTP/1.1\na: 1\nA: 2\na: 3\n\n'));
    expect([...headers]).toEqual([
      ['a', '1'],
      ['A', '2'],
      ['a', '3'],
    ]);
  });
});

describe('porter verify', () => {
  const body = Buffer.from('{"object":"Appointment","id":"äpt_1","event":"appointment.confirmed"}');
  const secret = newSecret((count) => Buffer.alloc(count, 7));
  const delivery = { id: 'dlv_1_1', timestampSeconds: NOW, sequence: 1, body: body.toString() };
  const whole = { body, secret, headers: signedHeaders({ ...delivery, secrets: [secretBytes(secret)] }) };
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

  it('prefers a part that was given to the same in the file', async () => {
    const cwd = temporaryFolder();
    const lines = Object.entries({ ...whole.headers, 'webhook-id': 'other' });
    writeFileSync(join(cwd, 'headers'), lines.map(([name, value]) => `${name}: ${value}`).join('\n'));
    const line = `verify --headers headers --id ${delivery.id} --at ${at}`;
    expect(await porter(line, { env, cwd, stdin: body.toString() })).toMatchObject({ code: 0 });
  });

  it('is not steered by a hostile request', async () => {
    const hostile = '\x1b]0;x\x07\u202e';
    const stdin = `POST / HTTP/1.1\nwebhook-id: ${hostile}\nX_Webhook_Timestamp: ${hostile}\nwebhook-signature: ${hostile}\n\n${hostile}`;
    const { code, stdout } = await porter('verify', { env, stdin });
    expect(stdout).toContain('�]0;x��');
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
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

  it.each(['garbage\n', '{"event":"appointment.confirmed"}', '{"event": "appointment.confirmed"}', ''])(
    'says of %j that it is no request',
    async (stdin) => {
      const { code, stderr, stdout } = await porter('verify', { env, stdin });
      expect(stderr).toBe(
        'Error: This is not a request: expected headers, an empty line, the body.\n  Save it as it came over the wire, or give its parts: porter verify --help\n',
      );
      expect([code, stdout]).toEqual([2, '']);
    },
  );

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
