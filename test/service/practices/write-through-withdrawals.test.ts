import { describe, expect, it } from 'vitest';
import { databaseTime } from '../../../src/platform/clock.ts';
import { clearSome } from '../../../src/store/oversight/retention.ts';
import { afterwards } from '../../support/afterwards.ts';
import { expectProblem } from '../../support/answers.ts';
import { until } from '../../support/porter-process.ts';
import { startReceiver, status } from '../../support/receiver.ts';
import { type Loose, makeWorld, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** A practice software that has still to be told that a change which it may have applied was not made, and does not take it. */

const { house, db } = await serviceForTests();
const DAY = 24 * 3_600_000;

/** Its software answers everything with 500, and was asked for one change. */
async function practice() {
  const software = await startReceiver({ behaviour: status(500) });
  afterwards(() => software.close());
  const world = await makeWorld(house);
  const send = (method: string, body?: unknown) =>
    house.send(method, `/operator/v1/practice-groups/${world.groupId}/write-through`, {
      token: OPERATOR_TOKEN,
      body,
    });
  const put = (url = software.url) => send('PUT', { url });
  const patch = (title: string) => {
    house.clock.advance(1_000);
    return house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
      key: world.key,
      group: world.groupId,
      body: { title },
    });
  };
  const withdrawals = () => software.received.filter(({ body }) => body.includes('"change.withdrawn"'));
  const deliveries = async () => {
    const { rows } = await db.query(
      `SELECT state, tries, retry_at FROM deliveries d JOIN write_through USING (webhook_no) WHERE practice_group_id = $1`,
      [world.groupId],
    );
    return rows as [{ state: string; tries: number; retry_at: Date | null }];
  };
  /** Attempts until there were so many, each when it is due. */
  const attemptsUntil = async (count: number) => {
    for (;;) {
      const [{ tries, retry_at }] = await deliveries();
      if (tries >= count) return;
      if (tries > 0 && retry_at === null) throw new Error(`given up after ${tries} attempts`);
      house.clock.advance(Math.max(0, (retry_at?.getTime() ?? 0) - house.clock.now()) + 1);
      await until(
        () => `attempt ${tries + 1}`,
        async () => (await deliveries())[0].tries > tries,
      );
    }
  };
  expect((await put()).status).toBe(200);
  expect((await patch('Perhaps')).status).toBe(503);
  return { ...world, software, send, put, patch, withdrawals, deliveries, attemptsUntil };
}

/** As an earlier version left it after the tenth attempt. */
async function givenUp() {
  const here = await practice();
  await here.attemptsUntil(1);
  await db.query(
    `UPDATE deliveries SET state = 'failed', tries = 10, retry_at = NULL, finished_at = now()
      WHERE webhook_no = (SELECT webhook_no FROM write_through WHERE practice_group_id = $1)`,
    [here.groupId],
  );
  return here;
}

describe('a withdrawal that the practice software does not take', () => {
  it('is not given up after the tenth attempt, nor is its address disabled after five days', async () => {
    const here = await practice();
    const since = house.clock.now();
    await here.attemptsUntil(11);
    expect(await here.deliveries()).toMatchObject([{ state: 'due' }]);
    await here.attemptsUntil(14);
    expect(house.clock.now() - since).toBeGreaterThan(6 * DAY);
    expect((await here.send('GET')).body).toMatchObject({
      status: 'active',
      health: { failures: 14, failing_since: expect.any(String), queued: 1 },
    });
    expectProblem(await here.send('DELETE'), 409, 'conflict');
    await here.software.setBehaviour(status(200));
    await here.attemptsUntil(15);
    expect(await here.deliveries()).toMatchObject([{ state: 'delivered' }]);
    expect(here.withdrawals()).toHaveLength(15);
    expect((await here.send('DELETE')).status).toBe(204);
  });

  it('is sent again when a partner next wants a change, which is made if the software is back', async () => {
    const here = await practice();
    await here.attemptsUntil(4);
    const away = await here.patch('Still away');
    expectProblem(away, 503, 'service_unavailable');
    expect(away.body.message).toMatch(/^An earlier change of this submission type is not settled/);
    await here.attemptsUntil(5);
    const [{ retry_at }] = await here.deliveries();
    await here.software.setBehaviour(status(200));
    await expect.poll(async () => (await here.patch('Back')).status).toBe(200);
    expect(house.clock.now()).toBeLessThan(retry_at?.getTime() ?? 0);
    expect(await here.deliveries()).toMatchObject([{ state: 'delivered' }]);
  });

  it('is tried again after a 410, and operators hear that it fails', async () => {
    const here = await practice();
    await here.software.setBehaviour(status(410));
    await here.attemptsUntil(3);
    expect((await here.send('GET')).body).toMatchObject({ status: 'active', health: { queued: 1 } });
    const failing = async () => {
      const { data } = await house.operator('GET', '/attention');
      const groups: Loose[] = data.filter(({ kind }: Loose) => kind === 'webhook_failing');
      return groups.flatMap(({ items }) => items.map(({ subject }: Loose) => subject.id));
    };
    const { rows } = await db.query(
      'SELECT id FROM webhooks WHERE no = (SELECT webhook_no FROM write_through WHERE practice_group_id = $1)',
      [here.groupId],
    );
    house.clock.advance(5 * 60_000);
    expect(await failing()).toContain(rows[0].id);
    await here.software.setBehaviour(status(204));
    await here.attemptsUntil(4);
    expect(await here.deliveries()).toMatchObject([{ state: 'delivered' }]);
  });

  it('of an address that an earlier version has disabled: 409 says so, and setting it again sends it', async () => {
    const here = await practice();
    await here.attemptsUntil(1);
    await db.query(
      `UPDATE webhooks SET status = 'disabled', status_reason = 'The receiver answered 410 Gone.', version = version + 1
        WHERE no = (SELECT webhook_no FROM write_through WHERE practice_group_id = $1)`,
      [here.groupId],
    );
    const refused = await here.send('DELETE');
    expectProblem(refused, 409, 'conflict');
    expect(refused.body.message).toMatch(
      /^An earlier version has disabled the address: .* PUT the write-through again/,
    );
    await here.software.setBehaviour(status(200));
    expect((await here.put()).body.status).toBe('active');
    await until('it is told', () => here.withdrawals().length === 2);
    await until('the next change is made', async () => (await here.patch('Then')).status === 200);
    expect((await here.send('DELETE')).status).toBe(204);
  });

  it('and that was given up is outstanding: 409 says how it is sent again, and then all goes on', async () => {
    const here = await givenUp();
    const refused = await here.send('DELETE');
    expectProblem(refused, 409, 'conflict');
    expect(refused.body.message).toContain('PUT the write-through again');
    expect((await here.send('GET')).body.health.queued).toBe(1);
    await here.software.setBehaviour(status(200));
    expect(here.withdrawals()).toHaveLength(1);
    expect((await here.put()).status).toBe(200);
    await until('it is told', () => here.withdrawals().length === 2);
    await until('the next change is made', async () => (await here.patch('Then')).status === 200);
    expect((await here.send('DELETE')).status).toBe(204);
  });

  it('is taken by another address, when the software is gone for good', async () => {
    const here = await practice();
    const other = await startReceiver({ behaviour: status(204) });
    afterwards(() => other.close());
    await here.attemptsUntil(1);
    expect((await here.put(other.url)).status).toBe(200);
    await until('it is taken', () => other.received.length === 1);
    await until('nothing is outstanding', async () => (await here.send('DELETE')).status === 204);
  });

  it('outlives the time for which events are kept, and is gone after that when it is told', async () => {
    const [open, failed] = [await practice(), await givenUp()];
    await open.attemptsUntil(1);
    const clear = async () => {
      const { db, retention } = house.service.app;
      while ((await clearSome(db, 'clear_old', databaseTime(house.clock), retention)) > 0);
    };
    house.clock.advance(60 * DAY);
    await open.attemptsUntil(2);
    await clear();
    expect([await open.deliveries(), await failed.deliveries()].map(({ length }) => length)).toEqual([1, 1]);
    for (const { software, put, withdrawals, deliveries } of [open, failed]) {
      const before = withdrawals().length;
      await software.setBehaviour(status(200));
      expect((await put()).status).toBe(200);
      await until('it is told', () => withdrawals().length > before);
      await until('that is noted', async () => (await deliveries())[0].state === 'delivered');
    }
    await clear();
    expect([await open.deliveries(), await failed.deliveries()]).toEqual([[], []]);
  });
});
