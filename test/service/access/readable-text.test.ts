import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../support/answers.ts';
import { practiceItems } from '../../support/practice-items.ts';
import { type Loose, makeKey, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** Texts that one person types and another one reads. The rules themselves are proved in test/unit/fields.test.ts. */
const { house, world } = await serviceForTests();
const { groupId, partnerId, keyId } = world;
const contact = { email: 'a@partner.example', alert_kinds: ['webhook_failing'] };
const group = `/practice-groups/${groupId}`;

const lines: [string, string, string, Loose][] = [
  ['POST', '/partners', 'name', { contact_email: 'a@partner.example' }],
  ['PATCH', `/partners/${partnerId}`, 'name', {}],
  ['POST', '/practice-groups', 'name', {}],
  ['PATCH', group, 'name', {}],
  ['POST', '/networks', 'name', { practice_group_ids: [groupId] }],
  ['POST', '/operators', 'name', { role: 'viewer' }],
  ['POST', `/partners/${partnerId}/contacts`, 'name', contact],
  ['POST', `/partners/${partnerId}/invitations`, 'name', { email: 'a@partner.example' }],
  [
    'POST',
    `/partners/${partnerId}/agreements`,
    'signatory',
    { version: '1', signed_at: '2026-01-01T00:00:00Z' },
  ],
  [
    'POST',
    `/partners/${partnerId}/agreements`,
    'version',
    { signatory: 'A', signed_at: '2026-01-01T00:00:00Z' },
  ],
  ['PATCH', `/keys/${keyId}`, 'label', {}],
  ['PUT', `${group}/forms/f`, 'title', {}],
  ['PUT', `${group}/assignees/Admin/a`, 'name', {}],
  ['POST', `${group}/submission-types`, 'title', { pathway_id: 'p' }],
  ['PATCH', `${group}/submission-types/type-1`, 'title', {}],
];
const send = (method: string, path: string, body: unknown) =>
  house.send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });

describe('a line that other people read', () => {
  it.each(lines)('400: %s %s refuses what is no line in `%s`', async (method, path, field, body) => {
    for (const text of ['a\nb', 'a\u001b[31mb', 'a\u202eb', ' \u200b '])
      expectInvalid(await send(method, path, { ...body, [field]: text }), [
        { code: 'invalid_format', expected: 'string', path: [field] },
      ]);
  });

  it('400: so does the description of a webhook', async () => {
    const answer = await house.send('POST', '/v1/webhooks', {
      key: world.key,
      group: groupId,
      body: { url: 'https://partner.example/hook', description: 'a\nb' },
    });
    expectInvalid(answer, [{ code: 'invalid_format', path: ['description'] }]);
  });

  it('is refused in an import, item by item', async () => {
    const [practice, form, desk, type] = practiceItems();
    const items = [
      practice,
      { ...form, title: 'a\tb' },
      form,
      { ...desk, name: ' ' },
      desk,
      { ...type, title: 'a\u2066b', description: 'a\u0007b', external_url: 'javascript:alert(1)' },
      { ...type, description: 'One\nTwo', external_url: 'tel:+441614960000' },
    ];
    const { outcomes } = await house.operator('POST', '/import', { items });
    expect(
      outcomes.map(({ outcome, problem }: Loose) => [
        outcome,
        problem?.entries.map(({ path }: Loose) => path[0]),
      ]),
    ).toEqual([
      ['created', undefined],
      ['refused', ['title']],
      ['created', undefined],
      ['refused', ['name']],
      ['created', undefined],
      ['refused', ['title', 'description', 'external_url']],
      ['created', undefined],
    ]);
  });
});

it('a reported leak is taken as it comes, and made legible', async () => {
  const { key, keyId: id } = await makeKey(house, groupId);
  const report = { key, source: 'a\u202eb\nc', url: 'https://a.example/\u0007' };
  expect((await send('POST', '/leaked-keys', report)).status).toBe(200);
  const { leak } = await house.operator('GET', `/keys/${id}`);
  expect(leak).toMatchObject({ source: 'a\ufffdb\ufffdc', url: 'https://a.example/\ufffd' });
});

it('400: an email address that names no recipient, or several', async () => {
  for (const contact_email of [
    'a,b@c.example',
    'A <a@b.example>',
    'a@b.example\r\nBcc: c@d.example',
    '"a b"@c.example',
    'a@b@c.example',
  ])
    expectInvalid(await send('POST', '/partners', { name: 'P', contact_email }), [
      { code: 'invalid_format', path: ['contact_email'] },
    ]);
});
