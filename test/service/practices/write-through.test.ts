import fc from 'fast-check';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, vi } from 'vitest';
import type { PartnerPrincipal } from '../../../src/domain/access/principal.ts';
import { Outage } from '../../../src/platform/outage.ts';
import { gatherUpdates } from '../../../src/runtime/practices/submission-type-updates.ts';
import { sentenceOf, verdictOf } from '../../../src/runtime/practices/write-through.ts';
import { afterwards } from '../../support/afterwards.ts';
import { expectProblem } from '../../support/answers.ts';
import { until } from '../../support/porter-process.ts';
import { stopPartner } from '../../support/practice-guest.ts';
import { type Behaviour, hang, type Receiver, startReceiver, status } from '../../support/receiver.ts';
import { type Loose, makeKey, makeWorld, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** Practice groups whose software is asked before a partner's change is made. */

const { house, db } = await serviceForTests();
const TYPE = '/v1/care-nav/submission-types/type-1';

const answer =
  (code: number, body: unknown): Behaviour =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

async function practice(behaviour: Behaviour = status(200)) {
  const software = await startReceiver({ behaviour });
  afterwards(() => software.close());
  const world = await makeWorld(house);
  const put = () =>
    house.operator('PUT', `/practice-groups/${world.groupId}/write-through`, { url: software.url });
  const { secret } = await put();
  return { ...world, software, secret, put };
}
type Practice = Awaited<ReturnType<typeof practice>>;

const patch = ({ key, groupId: group }: Pick<Practice, 'key' | 'groupId'>, body: unknown, headers = {}) => {
  house.clock.advance(1_000);
  return house.send('PATCH', TYPE, { key, group, body, headers });
};
const read = async ({ key, groupId: group }: Practice) =>
  (await house.send('GET', TYPE, { key, group })).body;
const bodies = ({ received }: Receiver): Loose[] => received.map(({ body }) => JSON.parse(body));
const feed = async ({ groupId }: Practice): Promise<Loose[]> =>
  (await house.operator('GET', `/changes?practice_group_id=${groupId}`)).data;
const proposals = async ({ groupId }: Practice) =>
  (await db.query('SELECT id FROM proposals WHERE practice_group_id = $1', [groupId])).rows;
/** What the software was told to take back. */
const withdrawn = ({ software }: Practice) =>
  bodies(software).flatMap(({ event, id }) => (event === 'change.withdrawn' ? id : []));

describe('a change that is written through', () => {
  it('is put to the practice software, signed, and made when it accepts; in the feed it is applied at once', async () => {
    const here = await practice();
    const answered = await patch(here, { title: 'Accepted' });
    expect(answered.status).toBe(200);
    expect(answered.body.title).toBe('Accepted');
    const [asked] = bodies(here.software);
    expect(asked).toEqual({
      event: 'change.proposed',
      id: expect.stringMatching(/^chg_/),
      kind: 'submission_type',
      practice_group_id: here.groupId,
      object_id: 'type-1',
      before: { title: 'Type one' },
      after: { title: 'Accepted' },
      partner_id: here.partnerId,
      key_id: here.keyId,
      request_id: answered.headers['x-request-id'],
      at: expect.any(String),
    });
    const [{ headers, body } = { headers: {}, body: '' }] = here.software.received;
    expect((headers as Record<string, string>)['webhook-id']).toBe(asked.id);
    vi.useFakeTimers({ now: house.clock.now(), toFake: ['Date'] });
    new Webhook(here.secret).verify(body, headers as Record<string, string>);
    vi.useRealTimers();
    await until('the change is placed', async () => (await feed(here)).length === 1);
    expect(await feed(here)).toMatchObject([
      { id: asked.id, state: 'applied', ended_at: expect.any(String) },
    ]);
    expect(await proposals(here)).toEqual([]);
  });

  it('422 practice_software: a veto, with its sentence; nothing changes', async () => {
    const here = await practice(answer(422, { message: 'This form is\nclosed \u001b[31m<b>now</b>.' }));
    const refused = await patch(here, { title: 'Vetoed' });
    expect(refused.status).toBe(422);
    expect(refused.body).toMatchObject({
      error: 'business_rule_violation',
      rule: 'practice_software',
      message: 'This form is closed [31m b now /b .',
    });
    expect((await read(here)).title).toBe('Type one');
    expect(await proposals(here)).toEqual([]);
    await here.software.setBehaviour(status(409));
    expect((await patch(here, { title: 'Vetoed' })).body.message).toContain('Ask the practice');
    expect(await feed(here)).toEqual([]);
    expect(withdrawn(here)).toEqual([]);
  });

  it('503 with Retry-After: the software is away; it was not reached, so there is nothing to take back', async () => {
    const here = await practice('refuse');
    const away = await patch(here, { title: 'Away' });
    expect(away.status).toBe(503);
    expect(away.body.error).toBe('service_unavailable');
    expect(away.body.message).toMatch(
      /^The software of the practice, which is asked before this is changed, does not answer\./,
    );
    expect(Number(away.headers['retry-after'])).toBeGreaterThan(0);
    // Nobody is called for it who runs Porter: `PorterFails` is about the service itself.
    expect((await house.send('GET', '/metrics')).text).toMatch(
      /^porter_http_refusals_total\{operation="updateSubmissionType",error="service_unavailable",away="practice_software"\} /m,
    );
    expect((await read(here)).title).toBe('Type one');
    expect(await proposals(here)).toEqual([]);
    await here.software.setBehaviour(status(200));
    expect((await patch(here, { title: 'Back' })).status).toBe(200);
    expect(withdrawn(here)).toEqual([]);
  });

  it('503: an answer that cannot be relied on; the software is told that the change was not made', async () => {
    const here = await practice(status(500));
    expect((await patch(here, { title: 'Perhaps' })).status).toBe(503);
    await here.software.setBehaviour(status(200));
    const [asked] = bodies(here.software);
    await until('it is withdrawn', () => withdrawn(here).includes(asked.id));
    expect(bodies(here.software).find(({ event }) => event === 'change.withdrawn')).toEqual({
      ...asked,
      event: 'change.withdrawn',
    });
    expect((await read(here)).title).toBe('Type one');
    // Only when it has heard of that is it asked about the same submission type again.
    expect((await patch(here, { title: 'Then' })).status).toBe(200);
  });

  it('a software that dies with the change on its disk is told to take it back', async () => {
    const here = await practice();
    // The connection is kept, and used again for the next one.
    expect((await patch(here, { title: 'First' })).status).toBe(200);
    await here.software.setBehaviour((response) => {
      void here.software.setBehaviour('refuse');
      response.destroy();
    });
    expect((await patch(here, { title: 'Second' })).status).toBe(503);
    const asked = bodies(here.software).at(-1);
    await here.software.setBehaviour(status(200));
    await until('it is withdrawn', () => {
      house.clock.advanceNowAndThen(10_000);
      return withdrawn(here).includes(asked.id);
    });
  });

  it('asks about no update that is refused or changes nothing', async () => {
    const here = await practice();
    expect((await patch(here, {})).status).toBe(200);
    expect((await patch(here, { title: 'Type one' })).status).toBe(200);
    expect((await patch(here, { form_id: 'nothing' })).body.rule).toBe('form_unknown');
    expect((await patch(here, { title: 'x' }, { 'if-match': '"9"' })).status).toBe(412);
    expect((await patch(here, { titel: 'x' })).status).toBe(400);
    expect(here.software.received).toEqual([]);
  });

  it('412: what somebody else changed while the software was asked is not overwritten, and is withdrawn', async () => {
    const here = await practice();
    let raced = false;
    await here.software.setBehaviour(async (response) => {
      if (!raced)
        await db.query(
          "UPDATE submission_types SET version = version + 1, title = 'Raced' WHERE practice_group_id = $1",
          [here.groupId],
        );
      raced = true;
      response.writeHead(200).end();
    });
    const { etag } = (await house.send('GET', TYPE, { key: here.key, group: here.groupId })).headers;
    const refused = await patch(here, { title: 'Late' }, { 'if-match': String(etag) });
    expect(refused.status).toBe(412);
    const [asked] = bodies(here.software);
    await until('it is withdrawn', () => withdrawn(here).includes(asked.id));
    expect((await read(here)).title).toBe('Raced');
    // Without a condition it is decided anew, and put to the software as another change.
    raced = false;
    // 503 while the software has still to be told that the one before was withdrawn.
    await until('it is made', async () => (await patch(here, { title: 'Again' })).status === 200);
    const asks = bodies(here.software).filter(({ event }) => event === 'change.proposed');
    expect(asks.map(({ before }) => before.title)).toEqual(['Type one', 'Raced', 'Raced']);
    await until('the second one is withdrawn', () => withdrawn(here).length === 2);
    expect(withdrawn(here)).toEqual([asks[0].id, asks[1].id]);
    expect(await proposals(here)).toEqual([]);
  });

  it('a node that died after asking: a worker withdraws what it left, and the change can no longer be made', async () => {
    const here = await practice();
    let release = () => {};
    await here.software.setBehaviour((response, { body }) => {
      if (JSON.parse(body).event === 'change.withdrawn') response.writeHead(204).end();
      else release = () => response.writeHead(200).end();
    });
    const pending = patch(here, { title: 'Orphan' });
    await until('the software is asked', () => here.software.received.length === 1);
    // As if its time were over; the node is alive all the same, and must not make it any more.
    await db.query("UPDATE proposals SET late_after = now() - interval '1 second'");
    await until('it is withdrawn', () => withdrawn(here).length === 1);
    release();
    expect((await pending).status).toBe(503);
    expect((await read(here)).title).toBe('Type one');
    expect(await feed(here)).toEqual([]);
  });

  it.each([
    [
      '401: whose key was revoked',
      401,
      ({ keyId }: Practice) => house.operator('POST', `/keys/${keyId}/revoke`),
    ],
    ['403: whose practice has stopped the partner', 403, (here: Practice) => stopPartner(house, here)],
  ])(
    '%s while it waited is not made, and the software not asked, or told to take it back',
    async (_, code, end) => {
      const here = await practice();
      let release = () => {};
      await here.software.setBehaviour((response, { body }) => {
        if (JSON.parse(body).event === 'change.withdrawn') response.writeHead(204).end();
        else release = () => response.writeHead(200).end();
      });
      const asked = patch(here, { title: 'Asked' });
      await until('the software is asked', () => here.software.received.length === 1);
      const waiting = patch(here, { title: 'Waiting' });
      await end(here);
      release();
      expect([(await asked).status, (await waiting).status]).toEqual([code, code]);
      const { rows } = await db.query('SELECT title FROM submission_types WHERE practice_group_id = $1', [
        here.groupId,
      ]);
      expect(rows).not.toContainEqual({ title: 'Asked' });
      expect(rows).not.toContainEqual({ title: 'Waiting' });
      await until('it is withdrawn', () => withdrawn(here).length === 1);
      expect(bodies(here.software).map(({ event }) => event)).toEqual([
        'change.proposed',
        'change.withdrawn',
      ]);
    },
  );

  it('a practice whose software hangs keeps no other waiting, and is answered at once when that has gone on', async () => {
    const [stuck, well] = [await practice(hang), await practice()];
    const other = await makeWorld(house);
    const hanging = patch(stuck, { title: 'Hangs' });
    await until('it hangs', () => stuck.software.received.length === 1);
    expect((await patch(well, { title: 'Goes on' })).status).toBe(200);
    expect((await patch(other, { title: 'Goes on' })).status).toBe(200);
    stuck.software.cutConnections();
    expect((await hanging).status).toBe(503);
    await stuck.software.setBehaviour('refuse');
    await db.query(
      'DELETE FROM deliveries WHERE webhook_no = (SELECT webhook_no FROM write_through WHERE practice_group_id = $1)',
      [stuck.groupId],
    );
    for (let n = 0; n < 4; n++) expect((await patch(stuck, { title: 'Away' })).status).toBe(503);
    // The circuit is open: it is not even called, although it is back.
    await stuck.software.setBehaviour(status(200));
    const calls = stuck.software.received.length;
    expect((await patch(stuck, { title: 'Open' })).status).toBe(503);
    expect(stuck.software.received.length).toBe(calls);
    house.clock.advance(10_000);
    expect((await patch(stuck, { title: 'Closed again' })).status).toBe(200);
  });

  it('several partners at once: each change follows on the one before, here and there', async () => {
    const here = await practice();
    const keys = await Promise.all([1, 2, 3].map(() => makeKey(house, here.groupId)));
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) => {
        const { key } = keys[n % 3] ?? here;
        return patch({ key, groupId: here.groupId }, { title: `title ${n}` });
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const asks = bodies(here.software);
    asks.slice(1).forEach(({ before }, n) => {
      expect(before).toEqual(asks[n].after);
    });
    expect((await read(here)).title).toBe(asks.at(-1).after.title);
    await until('all are placed', async () => (await feed(here)).length === 12);
    expect((await feed(here)).map(({ id }) => id)).toEqual(asks.map(({ id }) => id));
  });
});

describe('PUT, GET and DELETE of write-through', () => {
  const path = ({ groupId }: { groupId: string }) => `/operator/v1/practice-groups/${groupId}/write-through`;
  const send = (method: string, at: { groupId: string }, body?: unknown) =>
    house.send(method, path(at), { token: OPERATOR_TOKEN, body });

  it('is off until it is set, and off again when it is deleted', async () => {
    const there = await startReceiver();
    afterwards(() => there.close());
    const world = await makeWorld(house);
    expect((await send('GET', world)).status).toBe(404);
    const set = await send('PUT', world, { url: there.url });
    expect(set.status).toBe(200);
    const { secret, ...shown } = set.body;
    expect(secret).toMatch(/^whsec_/);
    expect((await send('GET', world)).body).toEqual(shown);
    expect(JSON.stringify(await house.operator('GET', '/subscriptions?page_size=100'))).not.toContain(
      there.url,
    );
    await patch(world, { title: 'Asked' });
    expect(there.received).toHaveLength(1);
    expect((await send('DELETE', world)).status).toBe(204);
    await patch(world, { title: 'Not asked' });
    expect(there.received).toHaveLength(1);
    expect((await send('DELETE', world)).status).toBe(404);
  });

  it('set again, the address changes, and both secrets sign', async () => {
    const here = await practice();
    const { secret } = await here.put();
    await patch(here, { title: 'Both' });
    const [{ headers, body } = { headers: {}, body: '' }] = here.software.received;
    vi.useFakeTimers({ now: house.clock.now(), toFake: ['Date'] });
    for (const one of [here.secret, secret]) new Webhook(one).verify(body, headers as Record<string, string>);
    vi.useRealTimers();
  });

  it('409: not while the software has still to be told of something; 404 and 422 as everywhere', async () => {
    const here = await practice(status(500));
    await patch(here, { title: 'Perhaps' });
    expect((await send('DELETE', here)).status).toBe(409);
    await here.software.setBehaviour(status(200));
    await until('it is settled', async () => {
      house.clock.advance(60_000);
      return (await send('DELETE', here)).status === 204;
    });
    expect((await send('PUT', { groupId: 'nobody' }, { url: 'https://a.example/' })).status).toBe(404);
    expect((await send('PUT', here, { url: 'https://10.0.0.1/' })).body.rule).toBe('webhook_target_refused');
  });
});

it('the sentence of a veto is one bounded line, whatever was answered', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.json(),
        fc.record({ message: fc.string({ unit: 'binary' }) }).map((o) => JSON.stringify(o)),
      ),
      (text) => {
        const sentence = sentenceOf(text);
        if (sentence === undefined) return;
        expect([...sentence].length).toBeLessThanOrEqual(500);
        expect(sentence).not.toMatch(/[\p{C}\p{Zl}\p{Zp}<>]/u);
      },
    ),
  );
});

it('a sentence that is too long is shortened, and ends in `…`', () => {
  const sentence = (message: string) => sentenceOf(JSON.stringify({ message }));
  expect(sentence('🏥'.repeat(500))).toBe('🏥'.repeat(500));
  expect(sentence('🏥'.repeat(501))).toBe(`${'🏥'.repeat(499)}…`);
});

it('only what was surely not sent, or surely refused, is not taken back', () => {
  const failure = (phase: string) => ({
    status: undefined,
    failure: { phase, code: 'x', detail: '' } as never,
  });
  for (const phase of ['address', 'dns', 'connect', 'tls'])
    expect(verdictOf(failure(phase))).toBe('not_reached');
  // A try that cannot connect says nothing of the one before it.
  expect(verdictOf({ ...failure('connect'), wasRepeated: true })).toBe('unknown');
  for (const phase of ['send', 'answer']) expect(verdictOf(failure(phase))).toBe('unknown');
  for (const [code, verdict] of [
    [200, 'accepted'],
    [204, 'accepted'],
    [409, 'vetoed'],
    [422, 'vetoed'],
    [301, 'unknown'],
    [400, 'unknown'],
    [404, 'unknown'],
    [429, 'unknown'],
    [500, 'unknown'],
    [503, 'unknown'],
  ] as const)
    expect(verdictOf({ status: code, failure: undefined })).toBe(verdict);
});

describe('nodes that do not ask', () => {
  it('409: while one of the version before works on the database, which the answer names; what is set already can be changed', async () => {
    const here = await practice();
    const world = await makeWorld(house);
    const older = new pg.Client({ connectionString: house.databaseUrl, application_name: 'porter' });
    await older.connect();
    const put = ({ groupId }: { groupId: string }) =>
      house.send('PUT', `/operator/v1/practice-groups/${groupId}/write-through`, {
        token: OPERATOR_TOKEN,
        body: { url: here.software.url },
      });
    const refused = await put(world);
    expectProblem(refused, 409, 'conflict');
    const { rows } = await older.query('SELECT pg_backend_pid() AS pid');
    expect(refused.body.message).toMatch(new RegExp(`pg_stat_activity: (127.0.0.1|pid ${rows[0].pid})\\)`));
    expect((await put(here)).status).toBe(200);
    await older.end();
    await until('it is gone', async () => (await put(world)).status === 200);
  });

  it('make no change, whatever they remember; changes of other practices that were gathered with it are made', async () => {
    const [here, other] = [await practice(), await makeWorld(house)];
    const { db: own } = house.service.app;
    const unaware = gatherUpdates({ db: own, clock: house.clock, changed: () => {} });
    const update = ({ groupId, keyId, partnerId }: Pick<Practice, 'groupId' | 'keyId' | 'partnerId'>) => ({
      principal: {
        kind: 'partner' as const,
        holder: { keyId, partnerId, homeGroupId: groupId },
        group: { id: groupId, timezone: 'Europe/London' },
      } as unknown as PartnerPrincipal,
      id: 'type-1',
      patch: { title: 'Unasked' },
      ifMatch: undefined,
      requestId: 'request',
    });
    const [refused, made] = await Promise.all([here, other].map((one) => unaware.submit(update(one))));
    expect(refused).toBeInstanceOf(Outage);
    expect(made).toMatchObject({ type: { title: 'Unasked' } });
    expect((await read(here)).title).toBe('Type one');
    expect(bodies(here.software)).toEqual([]);
    expect((await patch(here, { title: 'Asked' })).status).toBe(200);
    expect(bodies(here.software)).toMatchObject([{ event: 'change.proposed' }]);
  });
});
