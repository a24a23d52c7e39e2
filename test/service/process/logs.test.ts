import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../../src/platform/logger.ts';
import { type Answer, makeKey, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const house = await startHarness();

/** The lines that speak of this answer's request. */
const linesOf = (answer: Answer, from = house) =>
  from.logLines().filter((line) => line.request_id === answer.headers['x-request-id']);

describe('the log', () => {
  it('has one wide line for each refusal', async () => {
    const { groupId: group, key, keyId, partnerId } = await makeWorld(house);
    const narrow = await makeKey(house, group, { scopes: ['events:read'] });
    const type = '/v1/care-nav/submission-types/type-1';
    const who = { key_id: keyId, partner_id: partnerId };
    const cases: [Answer, Record<string, unknown>][] = [
      [await house.send('GET', '/v1/practice-groups'), { status: 401, error: 'invalid_credentials' }],
      [
        await house.send('GET', '/v1/practice-groups', { key: narrow.key, group }),
        { status: 403, error: 'insufficient_permissions', key_id: narrow.keyId },
      ],
      [
        await house.send('GET', '/v1/practice-groups', { key, group: 'elsewhere' }),
        { status: 403, error: 'forbidden', practice_group_id: 'elsewhere', ...who },
      ],
      [
        await house.send('PATCH', type, { key, group, body: { titel: 'x' } }),
        { status: 400, error: 'validation_error', practice_group_id: group, ...who },
      ],
      [
        await house.send('PATCH', `${type}x`, { key, group, body: {} }),
        { status: 404, error: 'not_found', practice_group_id: group, ...who },
      ],
      [
        await house.send('PATCH', type, { key, group, body: {}, headers: { 'if-match': '"0"' } }),
        { status: 412, error: 'precondition_failed', ...who },
      ],
      [
        await house.send('PATCH', type, { key, group, body: { form_id: 'none' } }),
        { status: 422, error: 'business_rule_violation', operation: 'updateSubmissionType', ...who },
      ],
      [
        await house.send('POST', '/operator/v1/practice-groups', {
          token: OPERATOR_TOKEN,
          body: { id: group, name: 'Again' },
        }),
        { status: 409, error: 'conflict', operation: 'createPracticeGroup', operator_id: 'opr_first' },
      ],
      [await house.send('GET', '/nowhere'), { status: 404, error: 'not_found', operation: 'none' }],
    ];
    for (const [answer, expected] of cases) {
      const lines = linesOf(answer);
      expect(lines, `one line for ${JSON.stringify(expected)}`).toHaveLength(1);
      expect(lines[0]).toMatchObject({
        level: 'info',
        msg: 'request',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        method: expect.stringMatching(/^[A-Z]+$/),
        path: expect.stringMatching(/^\//),
        operation: expect.any(String),
        duration_ms: expect.any(Number),
        address: '127.0.0.1',
        ...expected,
      });
    }
  });

  it('has the line of a refused rate, with whose it is', async () => {
    const { groupId: group } = await makeWorld(house);
    const { key, keyId } = await makeKey(house, group, { rate_limit_per_minute: 1 });
    await house.send('GET', '/v1/practice-groups', { key, group });
    const refused = await house.send('GET', '/v1/practice-groups', { key, group });
    expect(linesOf(refused)).toMatchObject([{ status: 429, error: 'rate_limit_exceeded', key_id: keyId }]);
  });

  it('keeps the request ID that the caller chose', async () => {
    const headers = { 'x-request-id': 'my-own.request:1' };
    const answer = await house.send('GET', '/v1/practice-groups', { headers });
    expect(answer.headers['x-request-id']).toBe('my-own.request:1');
    expect(linesOf(answer)).toHaveLength(1);
  });

  it('shows one success in a hundred', async () => {
    const alone = await startHarness();
    for (let i = 0; i < 250; i += 25)
      await Promise.all(Array.from({ length: 25 }, () => alone.send('GET', '/healthz')));
    const lines = alone.logLines().filter(({ msg, status }) => msg === 'request' && status === 200);
    expect(lines).toHaveLength(3);
  });
});

describe('secrets', () => {
  it('appear nowhere in the log, wherever the caller put them', async () => {
    const { groupId: group, key } = await makeWorld(house);
    const { token } = await house.operator('POST', '/operators', { name: 'O', role: 'viewer' });
    const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    for (const secret of [key, token, webhookSecret]) {
      const sent = encodeURIComponent(secret);
      await house.send('GET', `/v1/care-nav/submission-types/${sent}`, { key, group });
      await house.send('GET', `/v1/care-nav/submission-types?cursor=${sent}`, { key, group });
      await house.send('GET', `/v1/practice-groups?${sent}=1`, { key, group });
      await house.send('GET', `/nowhere/${sent}?x-api-key=${sent}#${sent}`);
      await house.send('GET', `/operator/v1/partners/${sent}`, { token });
      await house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
        key,
        group,
        body: { [secret]: 1 },
      });
      await house.send('GET', '/v1/practice-groups', {
        key: secret,
        group,
        headers: { 'user-agent': secret },
      });
      await house.send('GET', '/operator/v1/partners', { token: secret });
    }
    const log = JSON.stringify(house.logLines());
    for (const secret of [key, token, webhookSecret, OPERATOR_TOKEN]) {
      expect(log.includes(secret)).toBe(false);
      expect(log.includes(encodeURIComponent(secret))).toBe(false);
    }
    // What is left tells what kind of secret it was.
    expect(log).toContain('/v1/care-nav/submission-types/ptr_test_[redacted]');
    expect(log).toContain('pto_[redacted]');
  });

  it('are taken out whole where they are written as in an address', () => {
    const lines: string[] = [];
    const secret = `whsec_${Buffer.alloc(32, 0xfb).toString('base64')}`;
    createLogger((line) => lines.push(line)).info({ path: `/v1/${encodeURIComponent(secret)}-more` });
    expect(JSON.parse(lines[0] ?? '').path).toBe('/v1/whsec_[redacted]-more');
  });

  it('are taken out however they are escaped', () => {
    const secrets = [
      `ptr_live_${'a1B'.repeat(12)}zz`,
      `pto_${'a1B'.repeat(13)}z`,
      `whsec_${'a1B/'.repeat(10)}ab+=`,
    ];
    const hex = (text: string) => [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
    const escapes: ((secret: string) => string)[] = [
      (secret) => secret.replaceAll('_', '%5F'),
      (secret) => secret.replaceAll('_', '%5f'),
      (secret) => hex(secret),
      (secret) => hex(secret).toUpperCase(),
      (secret) => hex(secret.slice(0, 3)) + secret.slice(3),
      (secret) => secret.slice(0, 12) + hex(secret.slice(12)),
      (secret) => encodeURIComponent(hex(secret)),
      (secret) => encodeURIComponent(encodeURIComponent(secret.replaceAll('_', '%5F'))),
    ];
    for (const secret of secrets)
      for (const write of escapes) {
        const lines: string[] = [];
        const sent = write(secret);
        createLogger((line) => lines.push(line)).info({ path: `/v1/%20${sent}-more?x=1%20y` });
        const { path } = JSON.parse(lines[0] ?? '');
        expect(path, sent).toMatch(/^\/v1\/%20[^[]{4,90}\[redacted\]-more\?x=1%20y$/);
        expect(path).not.toContain(sent.slice(-12));
      }
  });

  it('are taken out of whatever is logged, database addresses included', () => {
    const lines: string[] = [];
    const log = createLogger((line) => lines.push(line));
    const key = `ptr_live_${'a1B'.repeat(12)}zz`;
    log.info({ deep: { list: [{ key }] } }, `key ${key}`);
    log.error({ err: new Error(`postgres://porter:hunter2@db:5432/x failed for ${key}`) }, 'bug');
    log.error('postgresql://porter:hunter@2@db:5432/y failed');
    const text = lines.join('');
    expect(text).not.toContain('a1B');
    expect(text).not.toContain('hunter');
    expect(text).toContain('postgres://porter:[redacted]@db:5432/x');
    expect(text).toContain('postgresql://porter:[redacted]@db:5432/y');
    for (const line of lines) expect(() => JSON.parse(line)).not.toThrow();
  });
});

describe('what callers send', () => {
  it('hides nothing of the line, whatever it looks like', async () => {
    const { key, keyId } = await makeWorld(house);
    const answer = await house.send('GET', '/v1/postgres://x', { key, group: 'a@b' });
    expect(linesOf(answer)).toMatchObject([
      { path: '/v1/postgres://x', status: 404, key_id: keyId, practice_group_id: 'a@b' },
    ]);
  });

  it('steers no terminal that shows the line', () => {
    const lines: string[] = [];
    const group = 'a\u001b[31m\u009b31m\u007f\u202eb';
    createLogger((line) => lines.push(line)).info({ practice_group_id: group }, 'request');
    expect(lines[0]).toContain(String.raw`"a\u001b[31m\u009b31m\u007f\u202eb"`);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ practice_group_id: group });
  });
});

describe('a fault of our own', () => {
  it('is an opaque 500 for the caller, while the log has the story under the same request ID', async () => {
    const broken = await startHarness();
    const { groupId: group, key } = await makeWorld(broken);
    const db = new pg.Client({ connectionString: broken.databaseUrl });
    await db.connect();
    onTestFinished(() => db.end());
    await db.query('ALTER TABLE submission_types RENAME COLUMN title TO heading');
    await db.query('ALTER TABLE partners RENAME TO associates');

    const answers = [
      await broken.send('GET', '/operator/v1/partners', { token: OPERATOR_TOKEN }),
      await broken.send('GET', '/v1/care-nav/submission-types/type-1', { key, group }),
      await broken.send('PATCH', '/v1/care-nav/submission-types/type-1', {
        key,
        group,
        body: { title: 'x' },
      }),
    ];
    for (const answer of answers) {
      const id = answer.headers['x-request-id'];
      expect(answer.status).toBe(500);
      expect(answer.body).toEqual({
        error: 'internal_error',
        statusCode: 500,
        message: 'Something went wrong on our side. Quote the request ID when you ask support.',
        request_id: id,
        doc_url: `${broken.url}/docs/errors/internal_error`,
      });
      const lines = linesOf(answer, broken);
      expect(lines).toMatchObject([
        {
          level: 'error',
          msg: 'bug',
          err: { message: expect.stringMatching(/does not exist/), stack: expect.any(String) },
        },
        { msg: 'request', status: 500, error: 'internal_error' },
      ]);
    }
    expect(JSON.stringify(broken.logLines())).not.toContain(key);
  });
});
