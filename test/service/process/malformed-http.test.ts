import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Problem } from '../../../src/contract/problems.ts';
import { faultsOf } from '../../support/answer-shape.ts';
import { type RawAnswer, RawConnection } from '../../support/raw-http.ts';
import { seedOf } from '../../support/seed.ts';
import { serviceForTests } from '../../support/service.ts';

const { house, world } = await serviceForTests();
const head = `host: a\r\nx-api-key: ${world.key}\r\nx-practice-group-id: ${world.groupId}\r\n`;

const PATCH = 'PATCH /v1/care-nav/submission-types/type-1 HTTP/1.1\r\n';
const GET = 'GET /v1/practice-groups HTTP/1.1\r\n';
const JSON_TYPE = 'content-type: application/json\r\n';

/**
 * Sends the bytes on a connection of their own and reads every answer until the server closes, which it is told to do
 * as soon as it has had time to answer: told so at once, Node drops requests that are under way.
 */
async function say(bytes: Buffer | string, atLeast = 0): Promise<RawAnswer[]> {
  const connection = new RawConnection(house.url);
  await connection.write(bytes);
  const answers: RawAnswer[] = [];
  while (answers.length < atLeast) answers.push(await connection.read());
  for (let turns = 0; turns < 4 && connection.isSilent; turns++) await house.send('GET', '/readyz');
  connection.end();
  answers.push(...(await connection.readAll()));
  for (const answer of answers) expect(faultsOf(answer), answer.body.toString()).toEqual([]);
  return answers;
}

async function stillWorks() {
  house.clock.advance(61_000);
  const [answer] = await say(`${GET}${head}\r\n`, 1);
  expect(answer?.status).toBe(200);
  expect(house.logLines().filter(({ level }) => level === 'error')).toEqual([]);
}

const statuses = async (bytes: Buffer | string) => (await say(bytes)).map(({ status }) => status);

describe('what is not HTTP', () => {
  it.each([
    ['a lone word', 'GET\r\n\r\n'],
    ['a version from the future', 'GET / HTTP/9.9\r\nhost: a\r\n\r\n'],
    ['HTTP/2 without having agreed on it', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a method that nobody knows', 'FETCH / HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['a method in small letters', 'get / HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['a blank in the address', 'GET /v1/practice groups HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['NUL in the address', 'GET /v1/\0 HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['bytes beyond ASCII in the address', 'GET /v1/\xe9\xff HTTP/1.1\r\nhost: a\r\n\r\n'],
    ['a TLS hello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['noise', '\xff\xfe\x00\x80\x81\r\n\r\n'],
    ['a header without a colon', 'GET / HTTP/1.1\r\nhost: a\r\nnonsense\r\n\r\n'],
    ['a blank before the colon', 'GET / HTTP/1.1\r\nhost : a\r\n\r\n'],
    ['a header without a name', 'GET / HTTP/1.1\r\n: a\r\nhost: a\r\n\r\n'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nhost: a\r\nx-a: b\0c\r\n\r\n'],
    ['a lone carriage return in a header', 'GET / HTTP/1.1\r\nhost: a\r\nx-a: b\rx-c: d\r\n\r\n'],
    ['a folded header', 'GET / HTTP/1.1\r\nhost: a\r\nx-a: b\r\n c\r\n\r\n'],
    ['the end in the middle of the headers', 'GET / HTTP/1.1\r\nhost: a\r\nx-a'],
  ])('%s: one 400 with an ID, then the connection closes', async (_name, bytes) => {
    expect(await statuses(Buffer.from(bytes, 'latin1'))).toEqual([400]);
    await stillWorks();
  });

  it('headers of more than 16 KiB: 431', async () => {
    for (const big of [`x-a: ${'b'.repeat(20_000)}\r\n`, 'x-a: b\r\n'.repeat(4_000)]) {
      const connection = new RawConnection(house.url);
      const answer = await connection.exchange(`${GET}${head}${big}\r\n`);
      expect(answer.status).toBe(431);
      expect(answer.headers['x-request-id']).toMatch(/./);
      expect(JSON.parse(answer.body.toString()).statusCode).toBe(431);
      connection.close();
    }
    expect(await statuses(`GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: a\r\n\r\n`)).toEqual([431]);
    await stillWorks();
  });
});

describe('what is HTTP, if unusual', () => {
  it.each([
    ['the whole address', `GET http://a.example/v1/practice-groups HTTP/1.1\r\n`, 200],
    ['HTTP/1.0', 'GET /v1/practice-groups HTTP/1.0\r\n', 200],
    ['escapes for plain letters', 'GET /v1/practice%2Dgroups HTTP/1.1\r\n', 200],
    ['an expectation that nobody knows', `${GET}expect: miracles\r\n`, 200],
    ['an upgrade that nobody offers', `${GET}connection: upgrade\r\nupgrade: h2c\r\n`, 200],
    ['the server as a whole', 'OPTIONS * HTTP/1.1\r\n', 404],
    ['an echo of itself', 'TRACE /v1/practice-groups HTTP/1.1\r\n', 405],
    ['an escape that stands for nothing', 'GET /v1/care-nav/submission-types/%zz HTTP/1.1\r\n', 400],
    ['an escape that is no UTF-8', 'GET /v1/care-nav/submission-types/%c3%28 HTTP/1.1\r\n', 400],
    ['NUL, escaped', 'GET /v1/care-nav/submission-types/%00 HTTP/1.1\r\n', 400],
    ['the way up, escaped', 'GET /v1/care-nav/submission-types/%2e%2e HTTP/1.1\r\n', 404],
  ])('%s', async (_name, line, status) => {
    const answers = await say(`${line}${head}\r\n`, 1);
    expect(answers.map((answer) => answer.status)).toEqual([status]);
  });

  it('a tunnel is not opened', async () => {
    expect(await statuses('CONNECT a.example:443 HTTP/1.1\r\nhost: a.example:443\r\n\r\n')).toEqual([]);
    await stillWorks();
  });

  it.each([
    ['without Host', '', 'The Host header is missing.'],
    ['with two', 'host: a\r\nHOST: b\r\n', 'There is more than one Host header.'],
  ])('a request %s is refused, with a body and an ID', async (_name, hosts, message) => {
    const [answer] = await say(`${GET}${head.replace('host: a\r\n', hosts)}\r\n`, 1);
    expect(answer?.status).toBe(400);
    expect(JSON.parse(String(answer?.body)).message).toMatchObject([{ code: 'invalid_http', message }]);
    expect(answer?.headers['x-request-id']).toMatch(/./);
  });
});

describe('where a request ends', () => {
  const smuggled = 'DELETE /smuggled HTTP/1.1\r\nhost: a\r\n\r\n';
  it.each([
    ['two lengths', 'content-length: 2\r\ncontent-length: 3\r\n', `{}${smuggled}`],
    ['two equal lengths', 'content-length: 2\r\ncontent-length: 2\r\n', '{}'],
    ['a list of lengths', 'content-length: 2, 2\r\n', '{}'],
    ['a length below zero', 'content-length: -2\r\n', '{}'],
    ['a length with a sign', 'content-length: +2\r\n', '{}'],
    ['a length in hex', 'content-length: 0x2\r\n', '{}'],
    ['a length beyond counting', `content-length: ${'9'.repeat(30)}\r\n`, '{}'],
    ['a length and chunks', 'content-length: 2\r\ntransfer-encoding: chunked\r\n', `0\r\n\r\n${smuggled}`],
    ['chunks and a length', 'transfer-encoding: chunked\r\ncontent-length: 6\r\n', `0\r\n\r\n${smuggled}`],
    ['an encoding that is not chunked', 'transfer-encoding: identity\r\n', smuggled],
    ['chunked, but not at last', 'transfer-encoding: chunked, gzip\r\n', smuggled],
    ['almost chunked', 'transfer-encoding: xchunked\r\n', smuggled],
    [
      'chunked twice',
      'transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n',
      `0\r\n\r\n${smuggled}`,
    ],
    ['a chunk of no size', 'transfer-encoding: chunked\r\n', 'zz\r\n{}\r\n0\r\n\r\n'],
    [
      'a chunk of more bytes than there are',
      'transfer-encoding: chunked\r\n',
      `${'F'.repeat(17)}\r\n{}\r\n0\r\n\r\n`,
    ],
    ['a chunk longer than it says', 'transfer-encoding: chunked\r\n', '1\r\n{}\r\n0\r\n\r\n'],
    ['a body that ends early', 'content-length: 50\r\n', '{"title":"half'],
    ['chunks that end early', 'transfer-encoding: chunked\r\n', '2\r\n{}\r\n'],
  ])('%s: one 400, and nothing behind it is taken for a request', async (_name, framing, body) => {
    expect(await statuses(`${PATCH}${head}${JSON_TYPE}${framing}\r\n${body}`)).toEqual([400]);
    await stillWorks();
  });

  it.each([
    [
      'identity, then chunked',
      'HTTP/1.1',
      'identity, chunked',
      /only Transfer-Encoding understood is chunked/,
    ],
    ['compressed, then chunked', 'HTTP/1.1', 'gzip, chunked', /only Transfer-Encoding understood is chunked/],
    ['two lines', 'HTTP/1.1', 'identity\r\ntransfer-encoding: chunked', /understood is chunked/],
    ['HTTP/1.0', 'HTTP/1.0', 'chunked', /HTTP\/1\.0 has no Transfer-Encoding/],
    ['HTTP/1.0 that wants to go on', 'HTTP/1.0', 'chunked\r\nconnection: keep-alive', /HTTP\/1\.0 has no/],
  ])(
    'a length that others would read otherwise is refused in so many words: %s',
    async (_name, version, coding, words) => {
      const body = '2\r\n{}\r\n0\r\n\r\n';
      const start = PATCH.replace('HTTP/1.1', version);
      const rename = JSON.stringify({ title: 'smuggled' });
      const behind = `${PATCH}${head}${JSON_TYPE}content-length: ${rename.length}\r\n\r\n${rename}`;
      const framing = `transfer-encoding: ${coding}\r\n`;
      const answers = await say(`${start}${head}${JSON_TYPE}${framing}\r\n${body}${behind}`, 1);
      expect(answers.map(({ status }) => status)).toEqual([400]);
      expect(JSON.parse(String(answers[0]?.body)).message).toMatchObject([
        { code: 'invalid_http', message: expect.stringMatching(words) },
      ]);
      expect(answers[0]?.headers.connection).toBe('close');
      const read = await house.send('GET', '/v1/care-nav/submission-types/type-1', {
        key: world.key,
        group: world.groupId,
      });
      expect(read.body.title).not.toBe('smuggled');
      await stillWorks();
    },
  );

  it('chunked is understood in any letters', async () => {
    const framing = 'transfer-encoding: Chunked\r\n';
    const answers = await say(`${PATCH}${head}${JSON_TYPE}${framing}\r\n2\r\n{}\r\n0\r\n\r\n`, 1);
    expect(answers.map(({ status }) => status)).toEqual([200]);
  });

  it('answers requests that come in one packet one after the other', async () => {
    const patch = (title: string) => {
      const body = JSON.stringify({ title });
      return `${PATCH}${head}${JSON_TYPE}content-length: ${body.length}\r\n\r\n${body}`;
    };
    const answers = await say(
      `${patch('one')}${GET}${head}\r\n${patch('two')}${GET}\r\n${patch('three')}`,
      5,
    );
    const titles = answers.map(({ body }) => JSON.parse(body.toString()).title);
    expect(titles).toEqual(['one', undefined, 'two', undefined, 'three']);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 400, 200]);
  });

  it('answers a hundred that come in one packet, and leaves whoever sends more ahead of their answers', async () => {
    const request = 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n';
    expect(await say(request.repeat(100), 100)).toHaveLength(100);
    const connection = new RawConnection(house.url);
    await connection.write(request.repeat(1_000));
    expect((await connection.readAll()).length).toBeLessThanOrEqual(100);
    await stillWorks();
  });

  it('goes on with whoever is always one request ahead', async () => {
    const { app } = house.service;
    const { updates } = app;
    onTestFinished(() => {
      app.updates = updates;
    });
    const underWay: (() => void)[] = [];
    const submit = () =>
      new Promise<never>((_, reject) => underWay.push(() => reject(new Problem('not_found'))));
    app.updates = { submit };
    const request = `${PATCH}${head}${JSON_TYPE}content-length: 2\r\n\r\n{}`;
    const connection = new RawConnection(house.url);
    await connection.write(request);
    for (let n = 0; n < 120; n++) {
      await connection.write(request);
      await expect.poll(() => underWay, { interval: 1 }).toHaveLength(2);
      underWay.shift()?.();
      expect((await connection.read()).status).toBe(404);
    }
    connection.close();
    await stillWorks();
  });

  it.each([
    ['noise', 'NOISE\r\n\r\n'],
    ['a blank more than the length says, and then noise', ' \x00\x01'],
  ])('answers a whole request before it complains of what stands behind it: %s', async (_name, noise) => {
    const title = `changed before ${noise.length}`;
    const body = JSON.stringify({ title });
    const length = `content-length: ${body.length}\r\n`;
    const answers = await say(`${PATCH}${head}${JSON_TYPE}${length}\r\n${body}${noise}`, 2);
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(JSON.parse(String(answers[0]?.body)).title).toBe(title);
    const both = await say(`${GET}${head}\r\n${GET}${head}\r\n${noise}`, 3);
    expect(both.map(({ status }) => status)).toEqual([200, 200, 400]);
    const told = house.logLines().filter(({ msg }) => msg === 'not HTTP');
    expect(told.at(-2)?.request_id).toBe(answers[1]?.headers['x-request-id']);
    await stillWorks();
  });

  it('outlives callers who leave in the middle of a body or of the headers', async () => {
    for (const part of [
      'PATCH',
      `${PATCH}host: a\r\n`,
      `${PATCH}${head}${JSON_TYPE}content-length: 99\r\n\r\n{"title":`,
    ]) {
      const connections = Array.from({ length: 20 }, () => new RawConnection(house.url));
      await Promise.all(connections.map((connection) => connection.write(part)));
      for (const connection of connections) connection.close();
      await stillWorks();
    }
  });

  it('a call whose caller left in the middle of its body is over, and has its line in the log', async () => {
    const connection = new RawConnection(house.url);
    const more = 'x-request-id: left-early\r\nexpect: 100-continue\r\ncontent-length: 99\r\n';
    await connection.write(`${PATCH}${head}${JSON_TYPE}${more}\r\n{"title":`);
    await connection.hear('100 Continue');
    connection.close();
    await expect
      .poll(house.logLines)
      .toContainEqual(
        expect.objectContaining({ request_id: 'left-early', status: 400, error: 'validation_error' }),
      );
  });

  it('lets nobody write headers of the answer', async () => {
    const evil = ['a%0d%0aset-cookie:x=1', 'a\tb', 'a b', '<script>', 'é'];
    for (const id of evil) {
      const [answer] = await say(`${GET}${head}x-request-id: ${id}\r\n\r\n`, 1);
      expect(answer?.headers['x-request-id']).toMatch(/^req_[\w-]+$/);
      expect(answer?.headers['set-cookie']).toBeUndefined();
    }
  });
});

it('1,500 requests with random damage to their bytes: every answer is whole, has an ID and the decided shape', async () => {
  const body = JSON.stringify({ title: 'Fine', daily_limit: 5 });
  const fine = [
    `${GET}${head}\r\n`,
    `${PATCH}${head}${JSON_TYPE}content-length: ${body.length}\r\n\r\n${body}`,
    `${PATCH}${head}${JSON_TYPE}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ].map((text) => Buffer.from(text, 'latin1'));
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 3 }),
    fc
      .constantFrom('\r\n', '\n', '\r', ' ', ':', '\0', '\r\n\r\n', '0', ',', 'content-length: 0\r\n')
      .map((text) => Buffer.from(text)),
  );
  const damage = fc.record({ at: fc.nat(10_000), remove: fc.nat(4), insert: fc.option(bytes) });
  const arbitrary = fc.record({
    base: fc.constantFrom(...fine),
    damages: fc.array(damage, { minLength: 1, maxLength: 4 }),
    cut: fc.integer({ min: 0, max: 9 }),
  });
  const samples = fc.sample(arbitrary, { numRuns: 1_500, seed: seedOf('malformed http', 20_261_115) });

  const talk = async (queue: typeof samples) => {
    for (let next = queue.pop(); next; next = queue.pop()) {
      let request: Buffer = next.base;
      for (const { at, remove, insert } of next.damages) {
        const place = at % request.length;
        request = Buffer.concat([
          request.subarray(0, place),
          insert ?? Buffer.alloc(0),
          request.subarray(place + remove),
        ]);
      }
      if (next.cut === 0) request = request.subarray(0, Math.floor(request.length / 2));
      if (request.length > 0) await say(request);
    }
  };
  while (samples.length > 0) {
    const round = samples.splice(0, 250);
    await Promise.all(Array.from({ length: 8 }, () => talk(round)));
    await stillWorks();
  }
});
