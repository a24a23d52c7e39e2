import { describe, expect, it } from 'vitest';
import { type Loose, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
const at = (ms: number) => new Date(house.clock.now() + ms).toISOString();
const HOUR = 3_600_000;

const create = (body: Record<string, unknown>): Promise<Loose> =>
  house.operator('POST', '/operators', { name: 'Ann', role: 'admin', ...body });
const statusWith = async (token: string) =>
  (await house.send('GET', '/operator/v1/partners', { token })).status;
const read = (id: string): Promise<Loose> => house.operator('GET', `/operators/${id}`);
const patch = (id: string, body: unknown) =>
  house.send('PATCH', `/operator/v1/operators/${id}`, { token: OPERATOR_TOKEN, body });

describe('operator tokens', () => {
  it('have a label, and are listed with their last use', async () => {
    const { id, token, label } = await create({ label: 'Laptop of Ann' });
    expect(label).toBe('Laptop of Ann');
    expect(await read(id)).toMatchObject({ label: 'Laptop of Ann', last_used_at: null });
    const used = at(0);
    expect(await statusWith(token)).toBe(200);
    house.clock.advance(60_000);
    expect(await statusWith(token)).toBe(200);
    expect(await read(id)).toMatchObject({ last_used_at: used });
    house.clock.advance(5 * 60_000);
    expect(await statusWith(token)).toBe(200);
    const { data } = await house.operator('GET', '/operators');
    expect(data.find((one: Loose) => one.id === id)).toMatchObject({ last_used_at: at(0) });
  });

  it('stop working at the millisecond of their expiry, also where they are remembered', async () => {
    const { id, token, expires_at, status } = await create({ expires_at: at(HOUR) });
    expect([expires_at, status]).toEqual([at(HOUR), 'active']);
    house.clock.advance(HOUR - 1);
    expect(await statusWith(token)).toBe(200);
    house.clock.advance(1);
    expect(await statusWith(token)).toBe(401);
    expect(await read(id)).toMatchObject({ status: 'expired' });
  });

  it('can be given an end later, or none; one that comes sooner holds when the call has answered', async () => {
    const { id, token } = await create({});
    expect(await statusWith(token)).toBe(200);
    const sooner = await patch(id, { expires_at: at(1_500), label: 'To end' });
    expect(sooner.body).toMatchObject({ id, status: 'active', label: 'To end' });
    house.clock.advance(600);
    expect(await statusWith(token)).toBe(401);
    expect((await patch(id, { expires_at: null })).body).toMatchObject({
      status: 'active',
      expires_at: null,
    });
    expect(await statusWith(token)).toBe(200);
    const { data } = await house.operator('GET', `/audit?subject_id=${id}`);
    expect(data.map(({ action }: Loose) => action)).toEqual([
      'operator.update',
      'operator.update',
      'operator.create',
    ]);
    expect((await patch(id, {})).status).toBe(200);
    expect((await house.operator('GET', `/audit?subject_id=${id}`)).count).toBe(3);
  });

  it('422: an expiry in the past; 400: one beyond all years; 404: nobody', async () => {
    const { id } = await create({});
    for (const answer of [
      await patch(id, { expires_at: at(0) }),
      await house.send('POST', '/operator/v1/operators', {
        token: OPERATOR_TOKEN,
        body: { name: 'Late', role: 'viewer', expires_at: at(-1) },
      }),
    ])
      expect(answer.body).toMatchObject({ statusCode: 422, rule: 'expiry_in_the_past' });
    expect((await patch(id, { expires_at: '9999-12-31T23:59:59-23:00' })).status).toBe(400);
    expect((await patch('opr_nobody', { label: 'x' })).status).toBe(404);
  });

  it('409: an admin whose token has expired does not count as one who is left', async () => {
    const alone = await startHarness({ env: { PORTER_ROLE: 'api' } });
    const soon = new Date(alone.clock.now() + HOUR).toISOString();
    await alone.operator('POST', '/operators', { name: 'Second', role: 'admin', expires_at: soon });
    alone.clock.advance(HOUR);
    const revoked = await alone.send('POST', '/operator/v1/operators/opr_first/revoke', {
      token: OPERATOR_TOKEN,
    });
    expect(revoked.status).toBe(409);
  });

  it('the configured token of the first operator works again after its expiry, from the next start on', async () => {
    const env = { PORTER_ROLE: 'api' };
    const first = await startHarness({ env });
    const soon = new Date(first.clock.now() + HOUR).toISOString();
    await first.operator('POST', '/operators', { name: 'Second', role: 'admin' });
    await first.operator('PATCH', '/operators/opr_first', { expires_at: soon });
    first.clock.advance(HOUR);
    expect((await first.send('GET', '/operator/v1/partners', { token: OPERATOR_TOKEN })).status).toBe(401);
    await first.stop();
    const { databaseUrl, clock } = first;
    const again = await startHarness({ databaseUrl, clock, env });
    expect(await again.operator('GET', '/operators/opr_first')).toMatchObject({
      status: 'active',
      expires_at: null,
    });
    const { data } = await again.operator('GET', '/audit?subject_id=opr_first');
    expect(data[0]).toMatchObject({ action: 'operator.restore', before: { status: 'expired' } });
  });
});
