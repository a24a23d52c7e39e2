import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type OperatorOperationId, operatorEndpoints } from '../../../src/contract/operator/index.ts';
import { expectProblem } from '../../support/answers.ts';
import { furnish, make, operationIds, validCall } from '../../support/operator-calls.ts';
import { makeKey, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const given = await furnish(await startHarness());
const db = await superuser(given.house.databaseUrl);

const roles = ['admin', 'support', 'source', 'viewer'] as const;
type Role = (typeof roles)[number];

/** Who may do what, in code of its own: the contract's lists of roles are what is being tested. */
function may(role: Role, id: OperatorOperationId): boolean {
  const { method, path } = operatorEndpoints[id];
  const reads = method === 'GET' || id === 'previewNetwork';
  if (role === 'admin' || id === 'getAvailability' || /\/(me|sessions)(\/|$)/.test(path)) return true;
  if (role === 'viewer') return reads;
  if (role === 'support')
    return (
      reads ||
      /^\/operator\/v1\/(partners|keys|leaked-keys|approvals|invitations|deliveries|changes|webhooks\/[^/]+\/(replay|retry-failed)|alerts\/[^/]+\/remind)(\/|$)/.test(
        path,
      )
    );
  const told = /^\/operator\/v1\/(events|write-to-record-jobs|.+\/ehr-health|.+\/form-submissions)(\/|$)/;
  // The practice software also reads what it is to answer.
  return /^\/operator\/v1\/changes(\/|$)/.test(path) || (!reads && told.test(path));
}

async function newOperator(role: Role): Promise<{ id: string; token: string }> {
  return given.house.operator('POST', '/operators', { name: `A ${role}`, role });
}

/** What calls have left behind: of the audit, without what the log of reads adds by itself from hour to hour, and the log of reads. */
async function traces(): Promise<{ changes: number; reads: number }> {
  await given.house.service.app.accessLog.flush();
  const { rows } = await db.query(
    `SELECT (SELECT count(*)::integer FROM audit_entries WHERE action <> 'access_log.anchor') AS changes,
            (SELECT count(*)::integer FROM access_log WHERE actor_id <> 'opr_first') AS reads`,
  );
  return rows[0];
}

describe('who may call the operator API', () => {
  it.each(operationIds)('401: %s refuses a call without a token, and one with a wrong token', async (id) => {
    const call = await validCall(id, given);
    const before = await traces();
    const without = await given.house.send(call.method, call.path, { body: call.body });
    const wrong = await make(given, call, 'pto_0000000000000000000000000000000000000000');
    for (const answer of [without, wrong]) {
      expect(answer.status).toBe(401);
      expect(answer.body).toMatchObject({ error: 'invalid_credentials', statusCode: 401 });
    }
    expect(await traces()).toEqual(before);
    given.house.clock.advance(60_000);
  });

  it.each(roles.flatMap((role) => operationIds.map((id) => [role, id] as const)))(
    '%s may call %s exactly as the operator surface says',
    async (role, id) => {
      const { token } = await newOperator(role);
      const call = await validCall(id, given);
      const before = await traces();
      const answer = await make(given, call, token);
      if (may(role, id)) {
        // The session, and what is to be collected, are the first operator's, which others may not know of.
        const isHidden = id === 'collectApproval' || (id === 'revokeSession' && role !== 'admin');
        expect(answer.status).toBe(isHidden ? 404 : operatorEndpoints[id].response.status);
        return;
      }
      expect(answer.status).toBe(403);
      expect(answer.body).toMatchObject({
        error: 'insufficient_permissions',
        required_roles: roles.filter((other) => may(other, id)),
      });
      expect(await traces()).toEqual(before);
    },
  );

  it("401: a partner's key is no operator token, in either header", async () => {
    const { key } = await makeKey(given.house, given.groupId);
    const asToken = await given.house.send('GET', '/operator/v1/partners', { token: key });
    const asKey = await given.house.send('GET', '/operator/v1/partners', { key, group: given.groupId });
    expect([asToken.status, asKey.status]).toEqual([401, 401]);
  });

  it("401: an operator's token is no partner key", async () => {
    const { token } = await newOperator('admin');
    const answer = await given.house.send('GET', '/v1/practice-groups', { key: token, group: given.groupId });
    expect(answer.status).toBe(401);
  });

  it('takes the word Bearer in any case, and nothing but a Bearer token', async () => {
    const { token } = await newOperator('viewer');
    const status = async (authorization: string) =>
      (await given.house.send('GET', '/operator/v1/partners', { headers: { authorization } })).status;
    expect(await status(`bearer ${token}`)).toBe(200);
    expect(await status(`BEARER  ${token}`)).toBe(200);
    expect(await status(token)).toBe(401);
    expect(await status(`Basic ${Buffer.from(`:${token}`).toString('base64')}`)).toBe(401);
    expect(await status(`Bearer ${token} extra`)).toBe(401);
    expect(await status('Bearer ')).toBe(401);
  });

  it('a stranger learns nothing about which addresses exist', async () => {
    const strip = ({ status, body }: { status: number; body: Record<string, unknown> }) => ({
      status,
      body: { ...body, request_id: '' },
    });
    const there = await given.house.send('GET', '/operator/v1/partners');
    const nowhere = await given.house.send('GET', '/operator/v1/nonsense');
    const wrongMethod = await given.house.send('PATCH', '/operator/v1/partners');
    expect(strip(nowhere)).toEqual(strip(there));
    expect(strip(wrongMethod)).toEqual(strip(there));
  });

  it('405 with Allow for a known address, 404 for an unknown one, once it is known who asks', async () => {
    const { token } = await newOperator('viewer');
    const wrongMethod = await given.house.send('PATCH', '/operator/v1/partners', { token });
    expect(wrongMethod.status).toBe(405);
    expect(wrongMethod.headers.allow).toBe('POST, GET, HEAD');
    expect((await given.house.send('GET', '/operator/v1/nonsense', { token })).status).toBe(404);
  });
});

describe('operators', () => {
  it('201: shows the token once, and it works at once', async () => {
    const answer = await given.house.operator('POST', '/operators', { name: 'Vera', role: 'viewer' });
    expect(answer).toEqual({
      id: expect.stringMatching(/^opr_/),
      name: 'Vera',
      kind: 'token',
      role: 'viewer',
      label: null,
      issuer: null,
      subject: null,
      emergency: false,
      status: 'active',
      expires_at: null,
      last_used_at: null,
      created_at: new Date(given.house.clock.now()).toISOString(),
      revoked_at: null,
      token: expect.stringMatching(/^pto_[0-9A-Za-z]{40}$/),
    });
    const { token, ...shown } = answer;
    expect((await given.house.send('GET', '/operator/v1/partners', { token })).status).toBe(200);
    const read = await given.house.send('GET', `/operator/v1/operators/${answer.id}`, { token });
    expect(read.body).toEqual({ ...shown, last_used_at: shown.created_at });
    const list = await given.house.send('GET', '/operator/v1/operators?page_size=100', { token });
    expect(list.text).not.toContain(token);
  });

  it('200: a revoked token is refused from the answer on, and revoking twice is no error', async () => {
    const { id, token } = await newOperator('support');
    expect((await given.house.send('GET', '/operator/v1/partners', { token })).status).toBe(200);
    const revoked = await given.house.operator('POST', `/operators/${id}/revoke`);
    expect(revoked).toMatchObject({ id, status: 'revoked', revoked_at: expect.any(String) });
    expect((await given.house.send('GET', '/operator/v1/partners', { token })).status).toBe(401);
    expect(await given.house.operator('POST', `/operators/${id}/revoke`)).toEqual(revoked);
  });

  it('409: the last admin cannot be revoked, also when two admins revoke each other at once', async () => {
    const house = await startHarness();
    const last = await house.send('POST', '/operator/v1/operators/opr_first/revoke', {
      token: OPERATOR_TOKEN,
    });
    expect(last.status).toBe(409);
    expect(last.body.error).toBe('conflict');

    const other = await house.operator('POST', '/operators', { name: 'Other', role: 'admin' });
    const answers = await Promise.all([
      house.send('POST', `/operator/v1/operators/${other.id}/revoke`, {
        token: OPERATOR_TOKEN,
      }),
      house.send('POST', '/operator/v1/operators/opr_first/revoke', { token: other.token }),
    ]);
    // The slower of the two is either refused as the last admin's revocation or comes from somebody revoked.
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    expect([401, 409]).toContain(answers.find(({ status }) => status !== 200)?.status);
  });
});

describe('the last admin', () => {
  it('409: is given no expiry, and is not revoked while the other admins expire', async () => {
    const house = await startHarness();
    const act = (method: string, path: string, body?: unknown) =>
      house.send(method, `/operator/v1/operators${path}`, { token: OPERATOR_TOKEN, body });
    const expires_at = '2099-01-01T00:00:00.000Z';
    const sooner = { expires_at: '2098-01-01T00:00:00.000Z' };
    const other = (await act('POST', '', { name: 'Other', role: 'admin', expires_at })).body;
    const problem = { message: 'This is the last admin that does not expire. Create another one first.' };
    expectProblem(await act('PATCH', '/opr_first', sooner), 409, 'conflict', problem);
    expectProblem(await act('POST', '/opr_first/revoke'), 409, 'conflict', problem);
    expect((await act('PATCH', `/${other.id}`, sooner)).status).toBe(200);
    expect((await act('PATCH', `/${other.id}`, { expires_at: null })).status).toBe(200);
    expect((await act('PATCH', '/opr_first', sooner)).status).toBe(200);
    expectProblem(await act('POST', `/${other.id}/revoke`), 409, 'conflict', problem);
    expect((await act('POST', '/opr_first/revoke')).status).toBe(200);
  });
});

it('tokens of the same moment are asked about together: strangers cannot keep the database busy with them', async () => {
  const { access, db } = given.house.service.app;
  const viewer = await newOperator('viewer');
  const tokens = Array.from({ length: 100 }, (_, n) => (n === 25 ? viewer.token : `pto_${n}`));
  const asked = vi.spyOn(db.pool, 'connect');
  onTestFinished(() => asked.mockRestore());
  const found = await Promise.all(tokens.map((token) => access.operatorOf(token)));
  expect(found.flatMap((operator, n) => (operator ? [[n, operator.operatorId]] : []))).toEqual([
    [25, viewer.id],
  ]);
  // One for them; a worker beside them looks into its queues meanwhile.
  expect(asked.mock.calls.length).toBeLessThan(10);
});
