import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem, withoutRequestId } from '../../support/answers.ts';
import { type Answer, makeWorld, startHarness } from '../../support/service.ts';

const PATH = '/v1/care-nav/submission-types/type-1';
const house = await startHarness();
let world: Awaited<ReturnType<typeof makeWorld>>;
beforeEach(async () => {
  world = await makeWorld(house);
});

const patch = (body: unknown, ifMatch?: string, path = PATH): Promise<Answer> =>
  house.send('PATCH', path, {
    key: world.key,
    group: world.groupId,
    body,
    headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
  });
const read = () => house.send('GET', PATH, { key: world.key, group: world.groupId });

describe('ETag', () => {
  it('is a strong entity tag on read and update, the same for the same state', async () => {
    const first = await read();
    expect(first.headers.etag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    expect((await read()).headers.etag).toBe(first.headers.etag);
    expect((await patch({})).headers.etag).toBe(first.headers.etag);
  });

  it('changes with every change, is never the same again, and update and read agree on it', async () => {
    const seen = new Set([(await read()).headers.etag]);
    for (const title of ['One', 'Two', 'One', 'Type one']) {
      const updated = await patch({ title });
      expect(seen.has(updated.headers.etag)).toBe(false);
      seen.add(updated.headers.etag);
      expect((await read()).headers.etag).toBe(updated.headers.etag);
    }
  });
});

describe('If-Match', () => {
  it('200: the present ETag, alone or in a list', async () => {
    let etag = String((await read()).headers.etag);
    for (const header of [
      (tag: string) => tag,
      (tag: string) => `"other", ${tag}`,
      (tag: string) => `${tag},"x"`,
    ]) {
      const answer = await patch({ title: `${etag} seen` }, header(etag));
      expect(answer.status, answer.text).toBe(200);
      etag = String(answer.headers.etag);
    }
  });

  it('200: * matches whatever is there', async () => {
    expect((await patch({ title: 'Star' }, '*')).status).toBe(200);
  });

  it('412: an old ETag, and nothing is changed', async () => {
    const old = String((await read()).headers.etag);
    const now = await patch({ title: 'Newer' }, old);
    expectProblem(await patch({ title: 'Lost update' }, old), 412, 'precondition_failed');
    const after = await read();
    expect(after.body).toEqual(now.body);
    expect(after.headers.etag).toBe(now.headers.etag);
  });

  it('412: no tag of the list matches, no quotes, an empty header', async () => {
    const etag = String((await read()).headers.etag);
    for (const header of ['"never"', '"a", "b"', etag.replaceAll('"', ''), '""', ''])
      expectProblem(await patch({ title: 'No' }, header), 412, 'precondition_failed');
  });

  it('412: a weak tag never matches, since If-Match compares strongly', async () => {
    const etag = String((await read()).headers.etag);
    expectProblem(await patch({ title: 'No' }, `W/${etag}`), 412, 'precondition_failed');
    expect((await patch({ title: 'Yes' }, `W/${etag}, ${etag}`)).status).toBe(200);
  });

  it('412: also for a patch that would change nothing', async () => {
    expectProblem(await patch({}, '"never"'), 412, 'precondition_failed');
  });
});

describe('404', () => {
  it('an ID that nothing has: only the decided fields', async () => {
    expectProblem(
      await patch({ title: 'x' }, undefined, '/v1/care-nav/submission-types/none'),
      404,
      'not_found',
    );
  });

  it("another group's submission type looks byte for byte like one that does not exist", async () => {
    const other = await makeWorld(house);
    await house.operator('POST', `/practice-groups/${other.groupId}/submission-types`, {
      id: 'theirs',
      pathway_id: 'p',
      title: 'Theirs',
    });
    for (const headers of [undefined, '"1"', '*']) {
      const theirs = await patch({ title: 'x' }, headers, '/v1/care-nav/submission-types/theirs');
      const missing = await patch({ title: 'x' }, headers, '/v1/care-nav/submission-types/absent');
      expect(theirs.status).toBe(404);
      expect(withoutRequestId(theirs)).toEqual(withoutRequestId(missing));
    }
    const own = await house.send('GET', '/v1/care-nav/submission-types/theirs', {
      key: other.key,
      group: other.groupId,
    });
    expect(own.body.title).toBe('Theirs');
  });

  it('the same ID in two groups names two records', async () => {
    const other = await makeWorld(house);
    await patch({ title: 'Mine' });
    const theirs = await house.send('GET', PATH, { key: other.key, group: other.groupId });
    expect(theirs.body.title).toBe('Type one');
  });
});
