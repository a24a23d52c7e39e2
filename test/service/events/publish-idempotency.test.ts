import { describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { fresh } from '../../support/operator-calls.ts';
import { type Harness, type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const house = await startHarness();

interface Setting {
  groupId: string;
  publish: (body: unknown, key?: string, token?: string) => ReturnType<Harness['send']>;
  /** How many events the group has. */
  kept: () => Promise<number>;
}

async function setting(): Promise<Setting> {
  const { groupId } = await makeWorld(house);
  return {
    groupId,
    publish: (body, key, token = OPERATOR_TOKEN) =>
      house.send('POST', '/operator/v1/events', {
        token,
        body,
        headers: key === undefined ? {} : { 'idempotency-key': key },
      }),
    kept: async () => (await house.operator('GET', `/events?practice_group_id=${groupId}`)).count,
  };
}

const prescription = (groupId: string, id: string) => ({
  object: 'Prescription',
  id,
  practice_group_id: groupId,
  event: 'prescription.issued',
});

describe('the same key', () => {
  it('409: when what was published with it has been erased since', async () => {
    const { groupId, publish } = await setting();
    const key = fresh('key');
    const body = prescription(groupId, 'of-a-patient');
    expect((await publish(body, key)).status).toBe(202);
    await house.operator('POST', '/erasures', {
      practice_group_id: groupId,
      object: 'Prescription',
      object_id: 'of-a-patient',
    });
    expectProblem(await publish(body, key), 409, 'conflict');
  });

  it('202: with the same body, the answer is the same and nothing is kept twice', async () => {
    const { groupId, publish, kept } = await setting();
    const body = { events: ['a', 'b'].map((id) => prescription(groupId, id)) };
    const key = fresh('key');
    const first = await publish(body, key);
    house.clock.advance(5_000);
    const again = await publish(body, key);
    expect([first.status, again.status]).toEqual([202, 202]);
    expect(again.body).toEqual(first.body);
    const replayed = [first, again].map(({ headers }) => headers['idempotent-replayed']);
    expect(replayed).toEqual([undefined, 'true']);
    expect(await kept()).toBe(2);
  });

  it('202: blanks and the order of fields are not another body', async () => {
    const { groupId, publish, kept } = await setting();
    const body = prescription(groupId, 'a');
    const key = fresh('key');
    const first = await publish(body, key);
    const turned = Object.fromEntries(Object.entries(body).reverse());
    const again = await house.send('POST', '/operator/v1/events', {
      token: OPERATOR_TOKEN,
      raw: JSON.stringify(turned, null, 4),
      headers: { 'idempotency-key': key, 'content-type': 'application/json' },
    });
    expect(again.body).toEqual(first.body);
    expect(await kept()).toBe(1);
  });

  it('202: twenty calls at once are one', async () => {
    const { groupId, publish, kept } = await setting();
    const body = { events: ['a', 'b', 'c'].map((id) => prescription(groupId, id)) };
    const key = fresh('key');
    const answers = await Promise.all(Array.from({ length: 20 }, () => publish(body, key)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(await kept()).toBe(3);
  });

  it('409: with another body, also when both come at once', async () => {
    const { groupId, publish, kept } = await setting();
    const key = fresh('key');
    await publish(prescription(groupId, 'a'), key);
    const other = await publish(prescription(groupId, 'b'), key);
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({
      error: 'conflict',
      message: expect.stringContaining('was sent before, with another body or for another practice group'),
    });
    expect((await publish({ events: [prescription(groupId, 'a')] }, key)).status).toBe(409);
    expect(await kept()).toBe(1);

    const raced = fresh('key');
    const answers = await Promise.all(
      ['c', 'd', 'e', 'f'].map((id) => publish(prescription(groupId, id), raced)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409]);
    expect(await kept()).toBe(2);
  });

  it('202: of another operator is another key', async () => {
    const { groupId, publish, kept } = await setting();
    const { token } = await house.operator('POST', '/operators', { name: 'Bookings', role: 'source' });
    const key = fresh('key');
    const first = await publish(prescription(groupId, 'a'), key);
    const other = await publish(prescription(groupId, 'b'), key, token);
    expect(other.status).toBe(202);
    expect(other.body).not.toEqual(first.body);
    expect(await kept()).toBe(2);
  });

  it('is not used up by a call that was refused', async () => {
    const { groupId, publish, kept } = await setting();
    const key = fresh('key');
    expect((await publish({ ...prescription(groupId, 'a'), surprise: 1 }, key)).status).toBe(400);
    expect((await publish(prescription('nowhere', 'a'), key)).status).toBe(422);
    expect((await publish(prescription(groupId, 'a'), key)).status).toBe(202);
    expect(await kept()).toBe(1);
  });
});

describe('without a key', () => {
  it('202: the same body again is another event', async () => {
    const { groupId, publish, kept } = await setting();
    const first = await publish(prescription(groupId, 'a'));
    const again = await publish(prescription(groupId, 'a'));
    expect(again.body).not.toEqual(first.body);
    expect(await kept()).toBe(2);
  });
});

describe('the form of a key', () => {
  it.each(['!', '~', 'x'.repeat(255), '"quoted"', 'a,b'])('202: %j', async (key) => {
    const { groupId, publish } = await setting();
    expect((await publish(prescription(groupId, 'a'), key)).status).toBe(202);
  });

  it.each(['', 'x'.repeat(256), 'two words', 'tab\there', 'ümlaut'])(
    '400: %j, together with what else is wrong',
    async (key) => {
      const { groupId, publish, kept } = await setting();
      const answer = await publish({ ...prescription(groupId, ''), surprise: 1 }, key);
      expect(answer.status).toBe(400);
      expect(answer.body.message[0]).toEqual({
        code: 'invalid_format',
        expected: 'string',
        path: ['idempotency-key'],
        message: 'Must be 1 to 255 visible ASCII characters, without blanks.',
      });
      expect(answer.body.message.map(({ path }: Loose) => path)).toEqual([
        ['idempotency-key'],
        ['id'],
        ['surprise'],
      ]);
      expect(await kept()).toBe(0);
    },
  );
});
