import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endedChange } from '../../../src/domain/practices/change.ts';
import { fanOutToOperators } from '../../../src/store/events/operator-events.ts';
import { lastEntry } from '../../support/audit.ts';
import { followStream } from '../../support/event-stream.ts';
import {
  type Answer,
  type Loose,
  makeKey,
  makeWorld,
  OPERATOR_TOKEN,
  serviceForTests,
} from '../../support/service.ts';

/** What partners change, on its way to the practice software, and what became of it there. */

// Without a worker: changes are placed when a test says so.
const { house, world, db } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });

const TYPE = '/v1/care-nav/submission-types/type-1';
const place = () =>
  fanOutToOperators(house.service.app.db, new Date(house.clock.now()).toISOString(), 0, 1_000);
const patch = (body: unknown, { key, groupId: group } = world, path = TYPE): Promise<Answer> => {
  house.clock.advance(1_000);
  return house.send('PATCH', path, { key, group, body });
};
const feed = (query = ''): Promise<Loose> => house.operator('GET', `/changes?${query}`);
const ofGroup = async (groupId: string, query = ''): Promise<Loose[]> =>
  (await feed(`practice_group_id=${groupId}&page_size=100${query}`)).data;
const own = ({ key, groupId: group }: Pick<typeof world, 'key' | 'groupId'>, query = '') =>
  house.send('GET', `${TYPE}/changes${query}`, { key, group });
const report = (id: string, what: string, body?: unknown, token = OPERATOR_TOKEN) =>
  house.send('POST', `/operator/v1/changes/${id}/${what}`, { token, body });

async function endOfFeed(): Promise<string> {
  let page = await feed('page_size=100');
  while (page.has_more) page = await feed(`page_size=100&cursor=${page.next_cursor}`);
  return page.next_cursor;
}

/** A change of a new practice group. */
async function newChange() {
  const here = await makeWorld(house);
  await patch({ title: 'Changed' }, here);
  await place();
  const [change] = await ofGroup(here.groupId);
  return { here, change };
}

describe('the feed of changes', () => {
  it('has what a partner changed: before, after, who, with which key and request, and when', async () => {
    const answer = await patch({ title: 'New title', suspended: true, in_hours: true });
    await place();
    expect(await ofGroup(world.groupId)).toEqual([
      {
        id: expect.stringMatching(/^chg_[0-9a-f]+_[0-9a-f]{16}$/),
        kind: 'submission_type',
        practice_group_id: world.groupId,
        object_id: 'type-1',
        before: { title: 'Type one', suspended: false },
        after: { title: 'New title', suspended: true },
        partner_id: world.partnerId,
        key_id: world.keyId,
        request_id: answer.headers['x-request-id'],
        state: 'pending',
        reason: null,
        at: new Date(house.clock.now()).toISOString(),
        ended_at: null,
      },
    ]);
    const [change] = await ofGroup(world.groupId);
    expect(await house.operator('GET', `/changes/${change.id}`)).toEqual(change);
  });

  it('has nothing of updates that change nothing, were refused, or were made by the operator', async () => {
    const here = await makeWorld(house);
    for (const body of [{}, { title: 'Type one' }, { description: null }]) await patch(body, here);
    expect((await patch({ form_id: 'nothing' }, here)).status).toBe(422);
    expect((await patch({ title: 'x' }, here, `${TYPE}-none`)).status).toBe(404);
    expect((await db.query('SELECT FROM new_changes')).rowCount).toBe(0);
    await house.operator('POST', `/practice-groups/${here.groupId}/submission-types`, {
      pathway_id: 'p',
      title: 'By the operator',
    });
    await place();
    expect(await ofGroup(here.groupId)).toEqual([]);
  });

  it('has each of many that were made at once, in the order in which they followed on one another', async () => {
    const here = await makeWorld(house);
    const titles = Array.from({ length: 60 }, (_, n) => `title ${n}`);
    const answers = await Promise.all(titles.map((title) => patch({ title }, here)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    // A few at a time, so that it takes several calls; one transaction's are placed together.
    while ((await fanOutToOperators(house.service.app.db, null, 0, 7)).more);
    const changes = await ofGroup(here.groupId);
    expect(changes.map(({ after }) => after.title).sort()).toEqual([...titles].sort());
    let title = 'Type one';
    for (const { before, after } of changes) {
      expect(before.title).toBe(title);
      title = after.title;
    }
    expect((await house.send('GET', TYPE, { key: here.key, group: here.groupId })).body.title).toBe(title);
  });

  it('is read page by page, and gone on with later', async () => {
    const here = await makeWorld(house);
    const start = await endOfFeed();
    for (const n of [1, 2, 3, 4, 5]) await patch({ title: `page ${n}` }, here);
    await place();
    const seen: string[] = [];
    let cursor = start;
    for (;;) {
      const page = await feed(`cursor=${cursor}&page_size=2`);
      expect(page.count).toBe(page.data.length);
      seen.push(...page.data.map(({ after }: Loose) => after.title));
      cursor = page.next_cursor;
      if (!page.has_more) break;
    }
    expect(seen).toEqual([1, 2, 3, 4, 5].map((n) => `page ${n}`));
    expect((await feed(`cursor=${cursor}`)).data).toEqual([]);
    await patch({ title: 'page 6' }, here);
    await place();
    const { data } = await feed(`cursor=${cursor}`);
    expect(data.map(({ after }: Loose) => after.title)).toEqual(['page 6']);
  });

  it('shows what is stuck, oldest first, and what has ended', async () => {
    const here = await makeWorld(house);
    for (const n of [1, 2, 3]) await patch({ title: `stuck ${n}` }, here);
    await place();
    const [first, second, third] = await ofGroup(here.groupId);
    await report(second.id, 'applied');
    expect((await ofGroup(here.groupId, '&state=pending')).map(({ id }) => id)).toEqual([first.id, third.id]);
    expect((await ofGroup(here.groupId, '&state=applied')).map(({ id }) => id)).toEqual([second.id]);
    const pending: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await feed(`state=pending&page_size=100${cursor}`);
      pending.push(...page.data.map(({ id }: Loose) => id));
      if (!page.has_more) break;
      cursor = `&cursor=${page.next_cursor}`;
    }
    expect(pending).toEqual(expect.arrayContaining([first.id, third.id]));
    expect(pending).not.toContain(second.id);
    expect(pending.indexOf(first.id)).toBeLessThan(pending.indexOf(third.id));
  });

  it('is shown to people newest first, by state, practice group and partner', async () => {
    const here = await makeWorld(house);
    for (const title of ['One', 'Two', 'Three']) await patch({ title }, here);
    await place();
    const latest = async (query: string): Promise<Loose> =>
      house.operator('GET', `/changes/latest?practice_group_id=${here.groupId}${query}`);
    const titles = ({ data }: Loose) => data.map(({ after }: Loose) => after.title);
    const first = await latest('&page_size=2');
    expect(titles(first)).toEqual(['Three', 'Two']);
    expect(titles(await latest(`&page_size=2&cursor=${first.next_cursor}`))).toEqual(['One']);
    await report(first.data[0].id, 'applied');
    expect(titles(await latest('&state=applied'))).toEqual(['Three']);
    expect(titles(await latest(`&partner_id=${here.partnerId}&state=pending`))).toEqual(['Two', 'One']);
    expect(titles(await latest(`&partner_id=${world.partnerId}`))).toEqual([]);
    const everywhere = await house.operator(
      'GET',
      `/changes/latest?state=pending&partner_id=${here.partnerId}`,
    );
    expect(titles(everywhere)).toEqual(['Two', 'One']);
  });

  it('410: tells a reader whose place was lost from where to go on', async () => {
    const { data, next_cursor } = await feed('page_size=100');
    expect(data.length).toBeGreaterThan(0);
    const [position] = JSON.parse(Buffer.from(next_cursor, 'base64url').toString());
    const lost = Buffer.from(JSON.stringify([position + 1_000, 'x'])).toString('base64url');
    const answer = await house.send('GET', `/operator/v1/changes?cursor=${lost}`, { token: OPERATOR_TOKEN });
    expect(answer.status).toBe(410);
    expect((await feed(`cursor=${answer.body.resume_cursor}`)).count).toBeGreaterThanOrEqual(0);
  });

  it('a change whose placing is undone is placed the next time', async () => {
    const here = await makeWorld(house);
    await patch({ title: 'Once' }, here);
    await db.query(`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'killed'; END $$`);
    await db.query('CREATE TRIGGER fail BEFORE INSERT ON changes FOR EACH ROW EXECUTE FUNCTION fail()');
    await expect(place()).rejects.toThrow('killed');
    await db.query('DROP FUNCTION fail CASCADE');
    await place();
    await place();
    expect(await ofGroup(here.groupId)).toHaveLength(1);
  });

  it('is streamed as changes are made, from a place on', async () => {
    const here = await makeWorld(house);
    const { next_cursor } = await feed(`practice_group_id=${here.groupId}`);
    const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
    await patch({ title: 'Before' }, here);
    await place();
    const url = `${house.url}/operator/v1/changes/stream`;
    const stream = await followStream(
      `${url}?practice_group_id=${here.groupId}&cursor=${next_cursor}`,
      headers,
    );
    const told = async (reader: typeof stream) => (await reader.event()) as Loose;
    expect((await told(stream)).data.after).toEqual({ title: 'Before' });
    await patch({ title: 'Meanwhile' }, here);
    await place();
    const { cursor, name, data } = await told(stream);
    expect([name, data]).toEqual(['submission-type.changed', (await ofGroup(here.groupId))[1]]);
    stream.close();
    const again = await followStream(url, { ...headers, 'last-event-id': cursor });
    await patch({ title: 'After' }, here);
    await place();
    expect((await told(again)).data.after).toEqual({ title: 'After' });
  });

  it('the stream of a token that is revoked ends', async () => {
    const { id, token } = await house.operator('POST', '/operators', { name: 'EHR', role: 'source' });
    const stream = await followStream(`${house.url}/operator/v1/changes/stream`, {
      authorization: `Bearer ${token}`,
    });
    expect(stream.status).toBe(200);
    await house.operator('POST', `/operators/${id}/revoke`);
    house.clock.advance(60_000);
    await stream.ended;
  });
});

describe('what became of a change', () => {
  it('200: applied, and the same again', async () => {
    const { here, change } = await newChange();
    house.clock.advance(5_000);
    const at = new Date(house.clock.now()).toISOString();
    const applied = await report(change.id, 'applied');
    expect(applied.status).toBe(200);
    expect(applied.body).toEqual({ ...change, state: 'applied', ended_at: at });
    house.clock.advance(5_000);
    const last = await lastEntry(house);
    expect((await report(change.id, 'applied')).body).toEqual(applied.body);
    expect(await lastEntry(house)).toBe(last);
    const { body } = await own(here);
    expect(body.data).toEqual([
      {
        id: change.id,
        state: 'applied',
        reason: null,
        request_id: change.request_id,
        at: change.at,
        ended_at: at,
      },
    ]);
  });

  it('200: rejected with a reason, which the partner is shown; the first one stays', async () => {
    const { here, change } = await newChange();
    const reason = 'Closed over the holidays.';
    expect((await report(change.id, 'rejected', { reason })).body).toMatchObject({
      state: 'rejected',
      reason,
    });
    expect((await report(change.id, 'rejected', { reason: 'Another.' })).body).toMatchObject({ reason });
    expect((await own(here)).body.data).toMatchObject([{ state: 'rejected', reason }]);
    // The submission type stays as the partner made it.
    const { body } = await house.send('GET', TYPE, { key: here.key, group: here.groupId });
    expect(body.title).toBe('Changed');
  });

  it('409: a change that has ended keeps its end', async () => {
    const { change } = await newChange();
    await report(change.id, 'applied');
    const rejected = await report(change.id, 'rejected', { reason: 'Too late.' });
    expect(rejected.status).toBe(409);
    expect(rejected.body.message).toContain('applied already');
    expect(await house.operator('GET', `/changes/${change.id}`)).toMatchObject({
      state: 'applied',
      reason: null,
    });
  });

  it('one end, whoever says what in which order', () => {
    const change = { id: 'chg_1', state: 'pending', reason: null, ended_at: null } as Parameters<
      typeof endedChange
    >[0];
    const said = fc.oneof(
      fc.constant({ state: 'applied' as const, reason: null }),
      fc.string({ minLength: 1 }).map((reason) => ({ state: 'rejected' as const, reason })),
    );
    fc.assert(
      fc.property(fc.array(said, { minLength: 1 }), (all) => {
        let current = change;
        all.forEach((end, n) => {
          const next = endedChange(current, end, String(n));
          if (n > 0 && end.state !== current.state) expect(next).toBeUndefined();
          else if (n > 0) expect(next).toBe(current);
          current = next ?? current;
        });
        expect(current).toMatchObject({ ...all[0], ended_at: '0' });
      }),
    );
  });

  it('404 for an unknown change; 400 without a reason; one that is too long is shortened', async () => {
    const { change } = await newChange();
    expect((await report('chg_none', 'applied')).status).toBe(404);
    for (const body of [undefined, {}, { reason: '' }, { reason: 1 }])
      expect((await report(change.id, 'rejected', body)).status).toBe(400);
    const rejected = await report(change.id, 'rejected', { reason: 'x'.repeat(1_001) });
    expect(rejected.body).toMatchObject({ state: 'rejected', reason: `${'x'.repeat(999)}…` });
  });

  it('the practice software reads and answers with a token of the role source', async () => {
    const { change } = await newChange();
    const { token } = await house.operator('POST', '/operators', { name: 'EHR', role: 'source' });
    expect((await house.send('GET', '/operator/v1/changes', { token })).status).toBe(200);
    expect((await report(change.id, 'applied', undefined, token)).status).toBe(200);
  });
});

describe('GET /v1/care-nav/submission-types/{id}/changes', () => {
  it("shows a partner its own changes, newest first, page by page, and never another partner's", async () => {
    const here = await makeWorld(house);
    const other = { groupId: here.groupId, ...(await makeKey(house, here.groupId)) };
    for (const n of [1, 2, 3]) {
      await patch({ title: `mine ${n}` }, here);
      await patch({ title: `theirs ${n}` }, other);
    }
    await place();
    const all = await ofGroup(here.groupId);
    const ids = (who: typeof here) =>
      all.flatMap(({ id, partner_id }) => (partner_id === who.partnerId ? id : [])).reverse();
    for (const who of [here, other]) {
      const whole = (await own(who)).body;
      expect(whole.data.map(({ id }: Loose) => id)).toEqual(ids(who));
      const first = (await own(who, '?page_size=2')).body;
      const rest = (await own(who, `?page_size=2&cursor=${first.next_cursor}`)).body;
      expect([...first.data, ...rest.data]).toEqual(whole.data);
    }
  });

  it('404 for a submission type that is unknown or another practice’s; 403 without the scope', async () => {
    const { key, groupId: group } = world;
    const get = (path: string, as = key) => house.send('GET', path, { key: as, group });
    expect((await get(`${TYPE}-none/changes`)).status).toBe(404);
    const { key: narrow } = await makeKey(house, group, { scopes: ['submission-types:write'] });
    expect((await get(`${TYPE}/changes`, narrow)).body.error).toBe('insufficient_permissions');
  });
});
