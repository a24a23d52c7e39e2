import { describe, expect, it } from 'vitest';
import { serviceForTests } from '../../support/service.ts';
import { head, openWire } from '../../support/wire.ts';

const PATH = '/v1/care-nav/submission-types/type-1';
const LIMIT = 64 * 1024;
const { house, world } = await serviceForTests();
const credentials = { 'x-api-key': world.key, 'x-practice-group-id': world.groupId };

/** White space is JSON too, so a body of any size can be a good one. */
const bodyOf = (bytes: number) => `{"title":"x"}${' '.repeat(bytes - 13)}`;
const json = { 'content-type': 'application/json' };

function inChunks(body: string, size: number): string {
  let out = '';
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.slice(at, at + size);
    out += `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
  }
  return `${out}0\r\n\r\n`;
}

const patchHead = (more: Record<string, string>) => head('PATCH', PATH, { ...credentials, ...json, ...more });

describe('a body of up to 64 KiB', () => {
  it('200: exactly 64 KiB are accepted, counted or chunked', async () => {
    const line = await openWire(house.url);
    line.write(patchHead({ 'content-length': String(LIMIT) }) + bodyOf(LIMIT));
    expect((await line.answer()).status).toBe(200);
    line.write(patchHead({ 'transfer-encoding': 'chunked' }) + inChunks(bodyOf(LIMIT), 10_000));
    expect((await line.answer()).status).toBe(200);
    line.close();
  });

  it('200: bytes count, not characters', async () => {
    const emoji = '😀';
    const fits = JSON.stringify({ description: emoji.repeat(5_000) });
    expect(Buffer.byteLength(fits)).toBeGreaterThan(20_000);
    const answer = await house.send('PATCH', PATH, { key: world.key, group: world.groupId, raw: fits });
    expect(answer.status).toBe(200);
    const over = `{"description":"${'é'.repeat(LIMIT / 2)}"}`;
    expect(over.length).toBeLessThan(LIMIT);
    expect(
      (await house.send('PATCH', PATH, { key: world.key, group: world.groupId, raw: over })).status,
    ).toBe(413);
  });
});

const tooLarge = {
  'one byte more, counted': (size: number) => patchHead({ 'content-length': String(size) }) + bodyOf(size),
  'one byte more, chunked': (size: number) =>
    patchHead({ 'transfer-encoding': 'chunked' }) + inChunks(bodyOf(size), 8_000),
};

describe('a body over 64 KiB', () => {
  for (const [name, bytes] of Object.entries(tooLarge)) {
    for (const size of [LIMIT + 1, 1024 * 1024]) {
      it(`413 (${name}, ${size} bytes in all): the next request goes over the same connection`, async () => {
        const line = await openWire(house.url);
        line.write(bytes(size));
        const refused = await line.answer();
        expect(refused.status).toBe(413);
        expect(refused.headers.connection).not.toBe('close');
        expect(JSON.parse(refused.text)).toEqual({
          error: 'payload_too_large',
          statusCode: 413,
          message: expect.any(String),
          request_id: refused.headers['x-request-id'],
          doc_url: `${house.url}/docs/errors/payload_too_large`,
        });
        line.write(head('GET', PATH, credentials));
        const next = await line.answer();
        expect(next.status).toBe(200);
        expect(JSON.parse(next.text).id).toBe('type-1');
        line.close();
      });
    }
  }

  it('413: the answer comes as soon as it is certain, and what still arrives is discarded', async () => {
    const line = await openWire(house.url);
    line.write(patchHead({ 'content-length': '200000' }));
    expect((await line.answer()).status).toBe(413);
    line.write('x'.repeat(200_000));
    line.write(head('GET', PATH, credentials));
    expect((await line.answer()).status).toBe(200);
    line.close();
  });

  it('413: nothing was changed, and the refused call was not counted', async () => {
    const before = await house.send('GET', PATH, { key: world.key, group: world.groupId });
    await house.send('PATCH', PATH, { key: world.key, group: world.groupId, raw: bodyOf(LIMIT + 1) });
    const after = await house.send('GET', PATH, { key: world.key, group: world.groupId });
    expect(after.body).toEqual(before.body);
    const left = (answer: { headers: Record<string, unknown> }) =>
      Number(/r=(\d+)/.exec(String(answer.headers.ratelimit))?.[1]);
    expect(left(after)).toBe(left(before) - 1);
  });

  it('413: on a method or an address that takes no body at all', async () => {
    const raw = bodyOf(LIMIT + 1);
    for (const [method, path] of [
      ['POST', '/v1/practice-groups'],
      ['PUT', '/v1/nothing'],
      ['DELETE', PATH],
      ['POST', '/operator/v1/keys'],
    ] as const)
      expect((await house.send(method, path, { key: world.key, raw })).status, path).toBe(413);
  });
});
