import { describe, expect, inject, it } from 'vitest';
import { problemCatalogue } from '../../../src/contract/problems.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { Refusals } from '../../../src/runtime/oversight/refusals.ts';
import { closeDatabase, openDatabase } from '../../../src/store/database.ts';
import { expectInvalid, expectProblem, withoutRequestId } from '../../support/answers.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { newPartner, type Partner, partnerWith, startPost } from '../../support/post.ts';
import { type Answer, type Loose, makeKey, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const own = await newPartner(house);
const db = await superuser(house.databaseUrl);

const TYPE = '/v1/care-nav/submission-types/type-1';
const idOf = ({ headers }: Answer) => String(headers['x-request-id']);
const ask = (refused: Answer, partner = own) => partner.send('GET', `/v1/requests/${idOf(refused)}`);

describe('GET /v1/requests/{request_id}', () => {
  it('200: tells of a refused call at once: what was asked, the answer as it was, and what to do', async () => {
    const refused = await own.send('PATCH', `${TYPE}?`, { form_id: 'none' });
    const { status, body, text } = await ask(refused);
    expect(status).toBe(200);
    const { cause, remedy } = problemCatalogue.business_rule_violation;
    expect(body).toEqual({
      request_id: idOf(refused),
      at: new Date(house.clock.now()).toISOString(),
      method: 'PATCH',
      path: TYPE,
      operation: 'updateSubmissionType',
      status: 422,
      error: 'business_rule_violation',
      reason: null,
      answer: refused.body,
      explanation: `${cause} ${remedy}`,
    });
    expect(text).toContain(`"answer":${refused.text},`);
  });

  it('400, 403, 404, 405, 412, 415, 422, 429 of a live key are kept', async () => {
    const limited = partnerWith(
      house,
      own.groupId,
      await makeKey(house, own.groupId, { rate_limit_per_minute: 1, scopes: ['events:read'] }),
    );
    const cases: [number, string, Answer, Partner?][] = [
      [400, 'validation_error', await own.send('PATCH', TYPE, { titel: 1, order: 'x' })],
      [403, 'forbidden', await house.send('GET', TYPE, { key: own.key, group: 'elsewhere' })],
      [404, 'not_found', await own.send('GET', `${TYPE}0`)],
      [404, 'not_found', await own.send('GET', '/v1/nothing')],
      [405, 'method_not_allowed', await own.send('PUT', TYPE)],
      [412, 'precondition_failed', await own.send('PATCH', TYPE, {}, { 'if-match': '"0"' })],
      [415, 'unsupported_media_type', await own.send('PATCH', TYPE, {}, { 'content-type': 'a/b' })],
      [403, 'insufficient_permissions', await limited.send('GET', TYPE), limited],
      [429, 'rate_limit_exceeded', await limited.send('GET', TYPE), limited],
    ];
    house.clock.advance(60_000);
    for (const [status, error, refused, partner] of cases) {
      expect(refused.status).toBe(status);
      const { body } = await ask(refused, partner);
      expect(body).toMatchObject({ status, error, answer: refused.body });
      expect(body.explanation.length).toBeGreaterThan(40);
      if (partner) house.clock.advance(60_000);
    }
  });

  it('any live key may ask, whatever its scopes, also another one of the same partner', async () => {
    const refused = await own.send('GET', `${TYPE}0`);
    const other = await house.operator('POST', '/keys', {
      partner_id: own.partnerId,
      practice_group_id: own.groupId,
      scopes: ['events:read'],
    });
    const path = `/v1/requests/${idOf(refused)}`;
    expect((await house.send('GET', path, { key: other.key, group: own.groupId })).status).toBe(200);
    expectProblem(await house.send('GET', path, { key: other.key, group: 'elsewhere' }), 403, 'forbidden');
    expectProblem(await house.send('GET', path, { group: own.groupId }), 401, 'invalid_credentials');
    expectInvalid(await house.send('GET', path, { key: other.key }), [{ path: ['x-practice-group-id'] }]);
  });

  it("404, all alike: others' calls, successes, calls without a key, and IDs that nobody used", async () => {
    const neighbour = await newPartner(house, own.groupId);
    const theirs = await neighbour.send('GET', `${TYPE}0`);
    const success = await own.send('GET', TYPE);
    const stranger = await house.send('GET', TYPE, { group: own.groupId });
    const nobody = withoutRequestId(await own.send('GET', '/v1/requests/req_nobody'));
    for (const answer of [theirs, success, stranger]) {
      const told = await ask(answer);
      expectProblem(told, 404, 'not_found');
      expect(withoutRequestId(told)).toEqual(nobody);
    }
    expect((await ask(theirs, neighbour)).status).toBe(200);
  });

  it('of an ID that was used twice, the newest', async () => {
    const headers = { 'x-request-id': 'used-twice' };
    await own.send('GET', `${TYPE}0`, undefined, headers);
    house.clock.advance(1);
    await own.send('PUT', TYPE, undefined, headers);
    house.clock.advance(1);
    const { body } = await own.send('GET', '/v1/requests/used-twice');
    expect(body).toMatchObject({ request_id: 'used-twice', status: 405 });
  });

  it('400: an ID that no call can have', async () => {
    expectInvalid(await own.send('GET', `/v1/requests/${'x'.repeat(129)}`), [{ path: ['request_id'] }]);
  });

  it('keeps no query, and no key that stands in an address', async () => {
    const refused = await own.send('GET', `/v1/${own.key}?x-api-key=${own.key}`);
    await house.service.app.refusals.flush();
    const { rows } = await db.query('SELECT * FROM refused_requests WHERE request_id = $1', [idOf(refused)]);
    expect(rows).toMatchObject([{ path: '/v1/ptr_test_[redacted]', key_id: own.keyId, operation: 'none' }]);
    expect(JSON.stringify(rows)).not.toContain(own.key);
  });

  it('keeps the first 2,048 characters of an address', async () => {
    const address = `${TYPE}${'x'.repeat(5_000)}`;
    expect((await ask(await own.send('PATCH', address, {}))).body.path).toBe(address.slice(0, 2_048));
  });

  it('keeps no key that was sent as a field', async () => {
    const refused = await own.send('PATCH', TYPE, { [own.key]: 1 });
    expect(refused.status).toBe(400);
    const { body } = await own.send('GET', `/v1/requests/${idOf(refused)}`);
    expect(JSON.stringify(body)).toContain('ptr_test_[redacted]');
    expect(JSON.stringify(body)).not.toContain(own.key);
  });

  it('of a refusal with thousands of entries the first hundred are kept', async () => {
    const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`k${n}`, 1]));
    const refused = await own.send('PATCH', TYPE, body);
    expect(refused.body.message).toHaveLength(5_000);
    const told = await ask(refused);
    expect(told.body.answer).toEqual({ ...refused.body, message: refused.body.message.slice(0, 100) });
  });

  it('refusals of one key beyond 600 in a minute are counted, not kept', async () => {
    const storm = await newPartner(house, own.groupId);
    const answers = await Promise.all(Array.from({ length: 650 }, () => storm.send('GET', '/v1/nothing')));
    await house.service.app.refusals.flush();
    const count = async () =>
      (await db.query('SELECT FROM refused_requests WHERE partner_id = $1', [storm.partnerId])).rows.length;
    expect(answers).toHaveLength(650);
    expect(await count()).toBe(600);
    expect(house.service.app.refusals.dropped).toBe(50);
    const metrics = await house.send('GET', '/metrics');
    expect(metrics.text).toContain('porter_refusals_not_kept_total 50');
    house.clock.advance(60_000);
    await storm.send('GET', '/v1/nothing');
    await house.service.app.refusals.flush();
    expect(await count()).toBe(601);
  });
});

describe('GET /operator/v1/requests', () => {
  const listed = async (query: Record<string, string>) =>
    (await house.operator('GET', `/requests?${new URLSearchParams(query)}`)).data;

  it('200: tells at once what was refused to whom, for which practice, and why', async () => {
    const refused = await own.send('PATCH', TYPE, { form_id: 'none' });
    const { text } = await house.send('GET', `/operator/v1/requests?request_id=${idOf(refused)}`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    const { cause, remedy } = problemCatalogue.business_rule_violation;
    expect(JSON.parse(text)).toEqual({
      data: [
        {
          request_id: idOf(refused),
          at: new Date(house.clock.now()).toISOString(),
          method: 'PATCH',
          path: TYPE,
          operation: 'updateSubmissionType',
          status: 422,
          error: 'business_rule_violation',
          reason: null,
          partner_id: own.partnerId,
          key_id: own.keyId,
          practice_group_id: own.groupId,
          address: '127.0.0.1',
          answer: refused.body,
          explanation: `${cause} ${remedy}`,
        },
      ],
      count: 1,
      next_cursor: null,
    });
    expect(text).toContain(`"answer":${refused.text},`);
  });

  it('newest first, of one partner, for one practice, by ID, and all of these together', async () => {
    const [one, two] = [await newPartner(house), await newPartner(house)];
    const away = { key: one.key, group: two.groupId, headers: { 'x-request-id': 'third' } };
    await one.send('GET', `${TYPE}0`, undefined, { 'x-request-id': 'first' });
    await two.send('GET', `${TYPE}0`, undefined, { 'x-request-id': 'second' });
    await house.send('GET', TYPE, away);
    await two.send('GET', `${TYPE}0`, undefined, { 'x-request-id': 'first' });
    const ids = async (query: Record<string, string>) =>
      (await listed(query)).map((one: Loose) => `${one.request_id} ${one.status}`);
    expect((await ids({ page_size: '4' })).slice(0, 4)).toEqual([
      'first 404',
      'third 403',
      'second 404',
      'first 404',
    ]);
    expect(await ids({ partner_id: one.partnerId })).toEqual(['third 403', 'first 404']);
    expect(await ids({ practice_group_id: two.groupId })).toEqual(['first 404', 'third 403', 'second 404']);
    expect((await listed({ request_id: 'first' })).map((one: Loose) => one.partner_id)).toEqual([
      two.partnerId,
      one.partnerId,
    ]);
    const both = { partner_id: two.partnerId, practice_group_id: two.groupId };
    expect(await ids(both)).toEqual(['first 404', 'second 404']);
    expect(await ids({ ...both, request_id: 'second' })).toEqual(['second 404']);
    expect(await ids({ ...both, partner_id: one.partnerId })).toEqual(['third 403']);
    expect(await ids({ request_id: 'fourth' })).toEqual([]);
  });

  it('tells which practice was named, also by a call that was turned away before it was looked for', async () => {
    const limited = await makeKey(house, own.groupId, { rate_limit_per_minute: 1, scopes: ['events:read'] });
    const named = `${own.key}${'x'.repeat(300)}`;
    await house.send('GET', TYPE, { key: limited.key, group: 'no-scope' });
    await house.send('GET', TYPE, { key: limited.key, group: 'too-fast' });
    await house.send('GET', TYPE, { key: own.key, group: named });
    const [third, second, first] = await listed({ page_size: '3' });
    expect(first).toMatchObject({ error: 'insufficient_permissions', practice_group_id: 'no-scope' });
    expect(second).toMatchObject({ error: 'rate_limit_exceeded', practice_group_id: 'too-fast' });
    expect(third.practice_group_id).toBe('ptr_test_[redacted]');
    await house.send('GET', TYPE, { key: own.key, group: 'long-'.repeat(200) });
    expect((await listed({ page_size: '1' }))[0].practice_group_id).toHaveLength(255);
  });

  it('of a call that named no practice, null', async () => {
    await house.send('GET', TYPE, { key: own.key, headers: { 'x-request-id': 'of-no-practice' } });
    expect(await listed({ request_id: 'of-no-practice' })).toMatchObject([
      { status: 400, error: 'validation_error', practice_group_id: null },
    ]);
  });

  it('what is kept of a busy neighbour is passed over in stretches, and found', async () => {
    const [busy, quiet] = [await newPartner(house), await newPartner(house, own.groupId)];
    await quiet.send('GET', `${TYPE}0`);
    await house.service.app.refusals.flush();
    await db.query(
      `INSERT INTO refused_requests (partner_id, request_id, at, key_id, practice_group_id, method, path, operation, status, body)
       SELECT $1, 'busy', now(), 'key', $2, 'GET', '/v1/x', 'none', 404, '{"error":"not_found"}' FROM generate_series(1, 10000)`,
      [busy.partnerId, own.groupId],
    );
    const path = `/requests?partner_id=${quiet.partnerId}&practice_group_id=${own.groupId}`;
    const first = await house.operator('GET', path);
    expect(first).toMatchObject({ data: [], count: 0 });
    const second = await house.operator('GET', `${path}&cursor=${first.next_cursor}`);
    expect(second).toMatchObject({ data: [{ partner_id: quiet.partnerId }], next_cursor: null });
  });
});

const refusal = (n: number, body = '{"error":"not_found"}') => ({
  partnerId: 'p',
  requestId: `req-${n}`,
  keyId: `key-${n % 100}`,
  practiceGroupId: undefined,
  method: 'GET',
  path: '/v1/x',
  operation: 'none',
  status: 404,
  body,
});

describe('keeping refusals', () => {
  it('while the database is out of reach answers go out as ever; what waits is written later, and is bounded', async () => {
    const fresh = openDatabase({ url: house.databaseUrl, connectionsMax: 1 });
    const kept = new Refusals(
      fresh,
      new ManualClock(),
      createLogger(() => {}),
    );
    const name = new URL(house.databaseUrl).pathname.slice(1);
    const admin = await superuser(inject('postgresUrl'));
    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    for (let n = 0; n < 10_050; n++) kept.add(refusal(n));
    await kept.flush();
    expect(kept.dropped).toBe(50);
    const rows = async () => (await db.query("SELECT FROM refused_requests WHERE partner_id = 'p'")).rows;
    expect(await rows()).toEqual([]);

    await admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
    await kept.flush();
    expect(await rows()).toHaveLength(10_000);
    expect(kept.dropped).toBe(50);
    await closeDatabase(fresh);
  });

  it('what cannot be written at all is counted and told', async () => {
    const lines: string[] = [];
    const fresh = openDatabase({ url: house.databaseUrl, connectionsMax: 1 });
    const kept = new Refusals(
      fresh,
      new ManualClock(),
      createLogger((line) => lines.push(line)),
    );
    kept.add({ ...refusal(1), status: 99_999_999 });
    await kept.flush();
    expect(kept.dropped).toBe(1);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'error', msg: 'refusals could not be written', refusals: 1 },
    ]);
    await closeDatabase(fresh);
  });

  it('one that cannot be written does not take the others along', async () => {
    const fresh = openDatabase({ url: house.databaseUrl, connectionsMax: 1 });
    const kept = new Refusals(
      fresh,
      new ManualClock(),
      createLogger(() => {}),
    );
    for (let n = 0; n < 5; n++)
      kept.add({ ...refusal(n), partnerId: 'q', status: n === 2 ? 99_999_999 : 404 });
    await kept.flush();
    expect(kept.dropped).toBe(1);
    const { rows } = await db.query(
      "SELECT request_id FROM refused_requests WHERE partner_id = 'q' ORDER BY no",
    );
    expect(rows.map((row) => row.request_id)).toEqual(['req-0', 'req-1', 'req-3', 'req-4']);
    await closeDatabase(fresh);
  });

  it('large ones are bounded by what they hold', () => {
    const gone = openDatabase({ url: 'postgres://nobody@127.0.0.1:1/none', connectionsMax: 1 });
    const kept = new Refusals(
      gone,
      new ManualClock(),
      createLogger(() => {}),
    );
    const body = JSON.stringify({ error: 'not_found', message: 'x'.repeat(60_000) });
    for (let n = 0; n < 1_000; n++) kept.add(refusal(n, body));
    expect(kept.dropped).toBeGreaterThan(400);
  });

  it('what is waiting when the service stops is written first', async () => {
    class RealSleep extends ManualClock {
      override sleep(milliseconds: number): Promise<void> {
        return new Promise((resolve) => setTimeout(resolve, milliseconds));
      }
    }
    const stopping = await startHarness({ env: { PORTER_ROLE: 'api' }, clock: new RealSleep() });
    const client = await superuser(stopping.databaseUrl);
    for (let n = 0; n < 3_000; n++) stopping.service.app.refusals.add(refusal(n));
    await stopping.stop();
    expect((await client.query('SELECT FROM refused_requests')).rows).toHaveLength(3_000);
    await client.end();
  });

  it('a call is answered although its refusal cannot be written', async () => {
    await db.query('ALTER TABLE refused_requests RENAME TO refused_requests_away');
    try {
      const refused = await own.send('GET', `${TYPE}0`);
      expectProblem(refused, 404, 'not_found');
      await house.service.app.refusals.flush();
    } finally {
      await db.query('ALTER TABLE refused_requests_away RENAME TO refused_requests');
    }
    expect((await own.send('GET', TYPE)).status).toBe(200);
    expect((await ask(await own.send('GET', `${TYPE}0`))).status).toBe(200);
  });
});
