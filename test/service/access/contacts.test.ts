import { describe, expect, it } from 'vitest';
import { expectInvalid, expectProblem, insist } from '../../support/answers.ts';
import { newPartner } from '../../support/post.ts';
import { OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

/** Who is told of alerts. */

const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
const partner = await newPartner(house);
const path = `/partners/${partner.partnerId}/contacts`;
const send = (method: string, to: string, body?: unknown) =>
  house.send(method, `/operator/v1${to}`, { token: OPERATOR_TOKEN, body });

describe('the contacts of a partner', () => {
  it('the first is the contact_email of the partner, whoever writes it', async () => {
    const { data } = await house.operator('GET', path);
    expect(data).toMatchObject([
      {
        id: 'first',
        partner_id: partner.partnerId,
        email: 'dev@partner.example',
        name: null,
        alert_kinds: null,
      },
    ]);
    await house.operator('PATCH', `/partners/${partner.partnerId}`, { contact_email: 'new@partner.example' });
    expect(await house.operator('GET', `${path}/first`)).toMatchObject({ email: 'new@partner.example' });
    const before = await send('GET', `/partners/${partner.partnerId}`);
    await house.operator('PATCH', `${path}/first`, { email: 'ops@partner.example', name: 'Ops' });
    const after = await send('GET', `/partners/${partner.partnerId}`);
    expect(after.body).toMatchObject({ contact_email: 'ops@partner.example' });
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expectProblem(await send('DELETE', `${path}/first`), 409, 'conflict');
  });

  it('others are added, changed and removed, up to twenty', async () => {
    const made = await house.operator('POST', path, {
      email: 'a@partner.example',
      alert_kinds: ['key_unused', 'key_expiring'],
    });
    expect(made).toMatchObject({ name: null, alert_kinds: ['key_expiring', 'key_unused'] });
    const changed = await house.operator('PATCH', `${path}/${made.id}`, { alert_kinds: null });
    expect(changed).toMatchObject({ email: 'a@partner.example', alert_kinds: null });
    expect(await house.operator('PATCH', `${path}/${made.id}`, {})).toEqual(changed);
    expect((await send('DELETE', `${path}/${made.id}`)).status).toBe(204);
    expectProblem(await send('GET', `${path}/${made.id}`), 404, 'not_found');
    const results = await Promise.all(
      Array.from({ length: 25 }, (_, at) =>
        insist(() => send('POST', path, { email: `c${at}@partner.example` })),
      ),
    );
    expect(results.filter(({ status }) => status === 201)).toHaveLength(19);
    expectProblem(
      results.find(({ status }) => status !== 201) ?? (results[0] as never),
      422,
      'business_rule_violation',
      {
        rule: 'contacts_max',
        path: ['email'],
      },
    );
    const first = await house.operator('GET', `${path}?page_size=15`);
    const second = await house.operator('GET', `${path}?page_size=15&cursor=${first.next_cursor}`);
    expect([first.data[0].id, first.count, second.count, second.next_cursor]).toEqual(['first', 15, 5, null]);
  });

  it('a kind that is not told to partners is refused, and so is what is no address', async () => {
    const answer = await send('POST', path, { email: 'nobody', alert_kinds: ['ehr_down'] });
    expectInvalid(answer, [
      { code: 'invalid_format', path: ['email'] },
      { code: 'invalid_value', path: ['alert_kinds', 0] },
    ]);
  });

  it('are nobody else’s: not another partner’s, and not the operator’s', async () => {
    const other = await newPartner(house);
    const { id } = await house.operator('POST', `/partners/${other.partnerId}/contacts`, {
      email: 'o@other.example',
    });
    expectProblem(await send('GET', `${path}/${id}`), 404, 'not_found');
    expectProblem(await send('DELETE', `/contacts/${id}`), 404, 'not_found');
    expectProblem(await send('GET', '/contacts/first'), 404, 'not_found');
    expectProblem(await send('GET', '/partners/prt_none/contacts'), 404, 'not_found');
    expectProblem(await partner.send('PATCH', `/v1/contacts/${id}`, { alert_kinds: [] }), 404, 'not_found');
  });
});

describe('a partner', () => {
  it('sees its contacts, and chooses what they are told of', async () => {
    const own = await newPartner(house);
    const { data } = await own.call('GET', '/v1/contacts');
    expect(data).toMatchObject([{ id: 'first', email: 'dev@partner.example' }]);
    const changed = await own.call('PATCH', '/v1/contacts/first', { alert_kinds: ['webhook_disabled'] });
    expect(changed).toEqual({
      ...data[0],
      alert_kinds: ['webhook_disabled'],
      updated_at: changed.updated_at,
    });
    const entries = (await house.operator('GET', '/audit?action=contact.update')).data;
    expect(entries[0]).toMatchObject({
      actor: { type: 'partner', id: own.keyId },
      subject: { type: 'contact', id: own.partnerId },
      before: { alert_kinds: null },
      after: { alert_kinds: ['webhook_disabled'] },
    });
  });

  it('does not change an address: a stolen key must not lead the warnings elsewhere', async () => {
    const own = await newPartner(house);
    expectInvalid(
      await own.send('PATCH', '/v1/contacts/first', { alert_kinds: null, email: 'thief@evil.example' }),
      [{ code: 'read_only', path: ['email'] }],
    );
  });
});
