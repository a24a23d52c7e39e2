import { describe, expect, it } from 'vitest';
import { expectInvalid } from '../../support/answers.ts';
import { type Answer, serviceForTests } from '../../support/service.ts';

const PATH = '/v1/care-nav/submission-types/type-1';
const { house, world } = await serviceForTests();

/** A second passes before each call, so that a table of cases never meets the rate limit. */
const patch = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
  house.clock.advance(1_000);
  return house.send('PATCH', PATH, { key: world.key, group: world.groupId, body, headers });
};
const read = () => house.send('GET', PATH, { key: world.key, group: world.groupId });
const auditOfType = () =>
  house.operator('GET', `/audit?subject_id=type-1&practice_group_id=${world.groupId}`);

describe('PATCH /v1/care-nav/submission-types/{id}', () => {
  it('200: answers with every field of the specification and no other', async () => {
    const answer = await house.send('PATCH', PATH, {
      key: world.key,
      group: world.groupId,
      body: { title: 'New title' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.body).toEqual({
      id: 'type-1',
      pathway_id: 'pathway-1',
      form_id: null,
      title: 'New title',
      description: null,
      in_hours: true,
      out_of_hours: true,
      suspended: false,
      external_url: null,
      external_url_name: null,
      type: null,
      default_priority: 'medium',
      daily_limit: null,
      forms_submitted_today: 0,
      patient_eligibility_check: false,
      assignee_id: null,
      assignee_type: null,
      order: null,
      created_at: '2026-11-16T10:00:00.000Z',
      updated_at: '2026-11-16T10:00:00.000Z',
    });
  });

  it('200: sets every updatable field in one call, and a later read shows them all', async () => {
    const wanted = {
      title: 'Sick note',
      description: 'For a fit note\nor a letter.',
      in_hours: false,
      out_of_hours: false,
      suspended: true,
      form_id: 'form-1',
      external_url: 'https://example.org/form?a=1#b',
      external_url_name: 'Our form',
      type: 'admin_request',
      default_priority: 'highest',
      daily_limit: 40,
      patient_eligibility_check: true,
      assignee_id: 'ann',
      assignee_type: 'Admin',
      order: 3,
    };
    const answer = await patch(wanted);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject(wanted);
    expect((await read()).body).toEqual(answer.body);
  });
});

/** One value for each field, with whatever the rules want beside it. */
const settings: { field: string; values: unknown[]; beside?: Record<string, unknown> }[] = [
  { field: 'title', values: ['A', 'Zürich – 診察 👩🏽‍⚕️'] },
  { field: 'description', values: ['Text', ''] },
  { field: 'in_hours', values: [true, false] },
  { field: 'out_of_hours', values: [true, false] },
  { field: 'suspended', values: [true, false] },
  { field: 'form_id', values: ['form-1'] },
  { field: 'external_url', values: ['http://example.org', 'HTTPS://Example.org:8443/x?y=z#q'] },
  { field: 'external_url_name', values: ['Name', ''], beside: { external_url: 'https://example.org' } },
  { field: 'type', values: ['admin_request', 'clinical_request', 'other_request'] },
  { field: 'default_priority', values: ['lowest', 'low', 'medium', 'high', 'highest'] },
  { field: 'daily_limit', values: [1, 0] },
  { field: 'patient_eligibility_check', values: [true, false] },
  { field: 'assignee_id', values: ['ann'], beside: { assignee_type: 'Admin' } },
  { field: 'assignee_type', values: ['Admin'], beside: { assignee_id: 'ann' } },
  { field: 'assignee_type', values: ['AdminTeam'], beside: { assignee_id: 'desk' } },
  { field: 'order', values: [1, 0] },
];

describe('each field of the body', () => {
  for (const { field, values, beside } of settings) {
    it(`200: ${field} takes ${values.map((value) => JSON.stringify(value)).join(', ')}`, async () => {
      for (const value of values) {
        const answer = await patch({ ...beside, [field]: value });
        expect(answer.status, answer.text).toBe(200);
        expect(answer.body[field]).toBe(value);
        expect((await read()).body[field]).toBe(value);
      }
    });
  }

  const nullable: [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['description', { description: 'x' }, {}],
    ['form_id', { form_id: 'form-1' }, {}],
    ['external_url', { external_url: 'https://example.org', external_url_name: null }, {}],
    ['external_url_name', { external_url: 'https://example.org', external_url_name: 'x' }, {}],
    ['type', { type: 'admin_request' }, {}],
    ['daily_limit', { daily_limit: 7 }, {}],
    ['assignee_id', { assignee_id: 'ann', assignee_type: 'Admin' }, { assignee_type: null }],
    ['assignee_type', { assignee_id: 'ann', assignee_type: 'Admin' }, { assignee_id: null }],
  ];
  for (const [field, before, beside] of nullable) {
    it(`200: null clears ${field}`, async () => {
      expect((await patch(before)).body[field]).not.toBeNull();
      const cleared = await patch({ ...beside, [field]: null });
      expect(cleared.status, cleared.text).toBe(200);
      expect(cleared.body[field]).toBeNull();
      expect((await read()).body[field]).toBeNull();
    });
  }

  const wrong: Record<string, { values: unknown[]; expected: string }> = {
    title: { values: [null, 1, true, [], {}], expected: 'string' },
    description: { values: [1, true, [], {}], expected: 'string' },
    in_hours: { values: [null, 'true', 1, 0, []], expected: 'boolean' },
    out_of_hours: { values: [null, 'false', 0, {}], expected: 'boolean' },
    suspended: { values: [null, 'no', 1], expected: 'boolean' },
    form_id: { values: [1, false, []], expected: 'string' },
    external_url: { values: [1, false, {}], expected: 'string' },
    external_url_name: { values: [1, [], {}], expected: 'string' },
    type: { values: ['Admin_Request', 'request', '', 1, []], expected: 'string' },
    default_priority: { values: [null, 'urgent', 'High', '', 1], expected: 'string' },
    daily_limit: { values: ['7', 7.5, true, [], Number.POSITIVE_INFINITY], expected: 'integer' },
    patient_eligibility_check: { values: [null, 'yes', 1], expected: 'boolean' },
    assignee_id: { values: [1, false, []], expected: 'string' },
    assignee_type: { values: ['admin', 'Team', '', 1], expected: 'string' },
    order: { values: [null, '1', 1.5, true, []], expected: 'integer' },
  };
  for (const [field, { values, expected }] of Object.entries(wrong)) {
    it(`400: ${field} refuses ${values.map((value) => JSON.stringify(value)).join(', ')}`, async () => {
      const before = (await read()).body;
      for (const value of values) {
        // 1e400 is a number in JSON and Infinity in most readers; JSON.stringify would turn it into null.
        const json =
          value === Number.POSITIVE_INFINITY ? `{"${field}":1e400}` : JSON.stringify({ [field]: value });
        house.clock.advance(1_000);
        const answer = await house.send('PATCH', PATH, { key: world.key, group: world.groupId, raw: json });
        expectInvalid(answer, [{ expected, path: [field] }]);
      }
      expect((await read()).body).toEqual(before);
    });
  }

  it('400: a wrong type has the code invalid_type', async () => {
    expectInvalid(await patch({ title: 1 }), [{ code: 'invalid_type', expected: 'string', path: ['title'] }]);
  });
});

describe('what a patch leaves alone', () => {
  it('200: an omitted field stays as it is, whichever one is sent', async () => {
    const start = {
      title: 'Base',
      description: 'Base',
      in_hours: true,
      out_of_hours: false,
      suspended: false,
      form_id: 'form-1',
      external_url: 'https://example.org',
      external_url_name: 'Base',
      type: 'other_request',
      default_priority: 'low',
      daily_limit: 9,
      patient_eligibility_check: false,
      assignee_id: 'ann',
      assignee_type: 'Admin',
      order: 5,
    };
    const one = {
      title: 'T',
      description: null,
      in_hours: false,
      out_of_hours: true,
      suspended: true,
      form_id: null,
      external_url: 'http://example.com',
      external_url_name: null,
      type: null,
      default_priority: 'high',
      daily_limit: null,
      patient_eligibility_check: true,
      order: 6,
    };
    for (const [field, value] of Object.entries(one)) {
      expect((await patch(start)).status).toBe(200);
      expect((await patch({ [field]: value })).body).toMatchObject({ ...start, [field]: value });
    }
  });

  it('200: {} changes nothing: updated_at, ETag, body and audit stay', async () => {
    const before = await patch({ title: 'Untouched' });
    const entries = (await auditOfType()).data;
    house.clock.advance(60_000);
    const answer = await patch({});
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(before.body);
    expect(answer.headers.etag).toBe(before.headers.etag);
    expect((await auditOfType()).data).toEqual(entries);
  });

  it('200: naming the present values changes nothing either', async () => {
    const { forms_submitted_today: _count, ...present } = (await patch({ title: 'Same', order: 1 })).body;
    const { id: _id, pathway_id: _pathway, created_at: _created, updated_at, ...fields } = present;
    const entries = (await auditOfType()).data.length;
    const answer = await patch(fields);
    expect(answer.status).toBe(200);
    expect(answer.body.updated_at).toBe(updated_at);
    expect((await auditOfType()).data).toHaveLength(entries);
  });

  it('200: a change moves updated_at to the present, in UTC with milliseconds, and leaves created_at', async () => {
    const before = (await read()).body;
    house.clock.set('2026-11-16T12:34:56.789Z');
    const answer = await house.send('PATCH', PATH, {
      key: world.key,
      group: world.groupId,
      body: { title: 'Moved' },
    });
    expect(answer.body).toMatchObject({
      created_at: before.created_at,
      updated_at: '2026-11-16T12:34:56.789Z',
    });
    expect(before.created_at).toBe('2026-11-16T10:00:00.000Z');
  });

  it('200: the audit tells who changed which field, from what to what, in which request', async () => {
    await patch({ title: 'Before', order: 1 });
    const answer = await patch({ title: 'After', order: 1 }, { 'x-request-id': 'my-request-7' });
    const [entry] = (await auditOfType()).data;
    expect(answer.headers['x-request-id']).toBe('my-request-7');
    expect(entry).toMatchObject({
      actor: { type: 'partner', id: world.keyId },
      action: 'submission_type.update',
      subject: { type: 'submission_type', id: 'type-1' },
      practice_group_id: world.groupId,
      request_id: 'my-request-7',
      before: { title: 'Before' },
      after: { title: 'After' },
    });
    expect(Object.keys(entry.after)).toEqual(['title']);
    expect((await house.operator('GET', '/audit/verify')).ok).toBe(true);
  });
});
