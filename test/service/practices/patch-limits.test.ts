import { beforeAll, describe, expect, it } from 'vitest';
import { expectInvalid } from '../../support/answers.ts';
import { type Answer, serviceForTests } from '../../support/service.ts';

const PATH = '/v1/care-nav/submission-types/type-1';
/** One code point, two UTF-16 units, four bytes: whoever counts anything but code points is found out. */
const EMOJI = '😀';
const FORM_OF_255 = 'f'.repeat(254) + EMOJI;
const ASSIGNEE_OF_255 = EMOJI.repeat(255);
const url = (length: number) => `https://example.org/${'a'.repeat(length - 20)}`;

const { house, world } = await serviceForTests();
beforeAll(async () => {
  const group = `/practice-groups/${world.groupId}`;
  await house.operator('PUT', `${group}/forms/${encodeURIComponent(FORM_OF_255)}`, { title: 'Form' });
  await house.operator('PUT', `${group}/assignees/Admin/${encodeURIComponent(ASSIGNEE_OF_255)}`, {
    name: 'Long',
  });
});

const send = (raw: string): Promise<Answer> => {
  house.clock.advance(1_000);
  return house.send('PATCH', PATH, { key: world.key, group: world.groupId, raw });
};
const patch = (body: unknown) => send(JSON.stringify(body));

const inside: [string, string, Record<string, unknown>][] = [
  ['title', '1 character', { title: 'a' }],
  ['title', '255 characters', { title: 'a'.repeat(255) }],
  ['title', '255 emoji, which are 510 UTF-16 units', { title: EMOJI.repeat(255) }],
  ['description', 'no character', { description: '' }],
  ['description', '5,000 characters', { description: 'é'.repeat(5_000) }],
  ['description', '5,000 emoji', { description: EMOJI.repeat(5_000) }],
  ['form_id', '255 characters', { form_id: FORM_OF_255 }],
  ['assignee_id', '255 characters', { assignee_id: ASSIGNEE_OF_255, assignee_type: 'Admin' }],
  ['external_url', '2,048 characters', { external_url: url(2_048) }],
  ['external_url_name', '255 emoji', { external_url: url(30), external_url_name: EMOJI.repeat(255) }],
  ['order', '-2,147,483,648', { order: -2_147_483_648 }],
  ['order', '2,147,483,647', { order: 2_147_483_647 }],
  ['daily_limit', '0', { daily_limit: 0 }],
  ['daily_limit', '100,000', { daily_limit: 100_000 }],
];

const outside: [string, string, unknown, string][] = [
  ['title', 'no character', '', 'too_small'],
  ['title', '256 characters', 'a'.repeat(256), 'too_big'],
  ['title', '256 emoji', EMOJI.repeat(256), 'too_big'],
  ['description', '5,001 characters', 'a'.repeat(5_001), 'too_big'],
  ['form_id', 'no character', '', 'too_small'],
  ['form_id', '256 characters', 'a'.repeat(256), 'too_big'],
  ['assignee_id', 'no character', '', 'too_small'],
  ['assignee_id', '256 characters', EMOJI.repeat(256), 'too_big'],
  ['external_url', '2,049 characters', url(2_049), 'too_big'],
  ['external_url_name', '256 characters', EMOJI.repeat(256), 'too_big'],
  ['order', '-2,147,483,649', -2_147_483_649, 'too_small'],
  ['order', '2,147,483,648', 2_147_483_648, 'too_big'],
  ['order', 'a fraction', 1.5, 'invalid_type'],
  ['order', '1e20, which no integer type holds', 1e20, 'too_big'],
  ['daily_limit', '-1', -1, 'too_small'],
  ['daily_limit', '100,001', 100_001, 'too_big'],
  ['daily_limit', '-1e20', -1e20, 'too_small'],
];

describe('lengths count code points, ranges include their ends', () => {
  it.each(inside)('200: %s takes %s', async (_field, _size, body) => {
    const answer = await patch(body);
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject(body);
  });

  it.each(outside)('400: %s refuses %s with one entry', async (field, _size, value, code) => {
    expectInvalid(await patch({ [field]: value }), [{ code, path: [field] }]);
  });

  it('200: an integer may be written 1e2, 5.0 or -0', async () => {
    expect((await send('{"order":1e2,"daily_limit":5.0}')).body).toMatchObject({
      order: 100,
      daily_limit: 5,
    });
    expect((await send('{"order":-0}')).text).toContain('"order":0');
  });
});

const texts = ['title', 'description', 'form_id', 'external_url', 'external_url_name', 'assignee_id'];

describe('text is Unicode', () => {
  it.each(texts)('400: %s refuses NUL', async (field) => {
    expectInvalid(await send(`{"${field}":"https://a.example/\\u0000"}`), [
      { code: 'invalid_format', expected: 'string', path: [field] },
    ]);
  });

  it.each(texts)('400: %s refuses half of a surrogate pair', async (field) => {
    for (const half of ['\\ud83d', '\\ude00', '\\ude00\\ud83d'])
      expectInvalid(await send(`{"${field}":"https://a.example/${half}"}`), [
        { code: 'invalid_format', expected: 'string', path: [field] },
      ]);
  });

  it('200: an escaped pair is the character that it stands for', async () => {
    expect((await send('{"title":"\\ud83d\\ude00"}')).body.title).toBe(EMOJI);
  });

  it('200: quotes, markup and the line breaks of a description come back as they went in', async () => {
    const title = '"\\/<script>&amp;\u200f\ufeff\uffff';
    const fields = { title, description: 'One\nTwo\r\nThree\u2028Four' };
    expect((await patch(fields)).body).toMatchObject(fields);
    const read = await house.send('GET', PATH, { key: world.key, group: world.groupId });
    expect(read.body).toMatchObject(fields);
  });

  it.each([
    ['title', ['\u0001', '\t', '\n', '\u007f', '\u0085', '\u2028', '\u202e', '\u2066']],
    ['external_url_name', ['\u0001', '\t', '\n', '\u007f', '\u0085', '\u2028', '\u202e', '\u2066']],
    ['description', ['\u0001', '\t', '\u007f', '\u0085', '\u202e', '\u2069']],
  ])('400: %s refuses control characters and bidi overrides, one entry each', async (field, unfit) => {
    for (const one of unfit)
      expectInvalid(await patch({ [field]: `before${one}after` }), [
        { code: 'invalid_format', expected: 'string', path: [field] },
      ]);
  });

  it.each([' ', '\u00a0\u2003', '\u200b', '\u3164\ufeff'])(
    '400: the title refuses white space alone: %j',
    async (title) => {
      expectInvalid(await patch({ title }), [
        {
          code: 'invalid_format',
          expected: 'string',
          path: ['title'],
          message: 'Must not be only white space.',
        },
      ]);
    },
  );
});

describe('external_url is absolute: http, https, tel or mailto', () => {
  const good = [
    'http://a.example',
    'https://a.example:8443/b?c=d#e',
    'HTTPS://A.EXAMPLE',
    'https://[2001:db8::1]/x',
    'https://münchen.example/straße',
    'https://a.example/%20',
    'tel:+441614960000',
    'TEL:0161-496-0000;ext=12',
    'mailto:a@a.example?subject=Hello%20there',
  ];
  it.each(good)('200: %s', async (external_url) => {
    const answer = await patch({ external_url });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body.external_url).toBe(external_url);
  });

  const bad = [
    'a.example',
    '/form',
    '//a.example',
    'ftp://a.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'tel:',
    'tel:0161 496 0000',
    'mailto:',
    'mailto:a@a.example\u0000',
    'mailto:a@a.example\r\nBcc:b@b.example',
    'mailto:\u202eelpmaxe.a@a',
    'https://a.example/\u202e',
    'sms:+441614960000',
    'vbscript:x',
    'http:a.example',
    'https:/a.example',
    'https:///a.example',
    'https://',
    'https://?q',
    'https://:443',
    'https://a.example:99999',
    'https://a b.example',
    'https://a.example/b c',
    ' https://a.example',
    'https://a.example ',
    'https://a.example\n',
    'https://a.exa\nmple/',
    'java\tscript:alert(1)',
    'https://a.example/\u0007',
    'http\\://a.example',
    'https:\\\\a.example',
  ];
  it.each(bad)('400: %j', async (external_url) => {
    expectInvalid(await patch({ external_url }), [
      { code: 'invalid_format', expected: 'string', path: ['external_url'] },
    ]);
  });
});

describe('the id in the path', () => {
  const at = (id: string) => {
    house.clock.advance(1_000);
    return house.send('PATCH', `/v1/care-nav/submission-types/${id}`, {
      key: world.key,
      group: world.groupId,
      body: {},
    });
  };

  it('404: one of 255 characters is looked up', async () => {
    expect((await at('x'.repeat(255))).status).toBe(404);
    expect((await at(encodeURIComponent(EMOJI).repeat(255))).status).toBe(404);
  });

  it.each([256, 4_000, 4_097, 12_000])('400: one of %d characters is refused', async (length) => {
    expectInvalid(await at('x'.repeat(length)), [{ code: 'too_big', path: ['id'] }]);
  });

  it('400: NUL is refused', async () => {
    expectInvalid(await at('a%00b'), [{ code: 'invalid_format', path: ['id'] }]);
  });

  it('404: quotes, slashes and SQL are an id like any other', async () => {
    for (const id of ["'; DROP TABLE submission_types; --", '{"a":1}', 'a/b', '..', 'NULL', '\\', '*', ','])
      expect((await at(encodeURIComponent(id).replaceAll('.', '%2E'))).status, id).toBe(404);
  });
});
