import { describe, expect, it } from 'vitest';
import { insist } from '../../support/answers.ts';
import { furnish, make, validCall } from '../../support/operator-calls.ts';
import { type Harness, type Loose, makeKey, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

const one = await startHarness();
const two = await startHarness({ databaseUrl: one.databaseUrl, clock: one.clock });
const given = await furnish(one);
const { key } = await makeKey(one, given.groupId);

async function wholeTrail(house: Harness): Promise<Loose[]> {
  const all: Loose[] = [];
  let cursor: string | null = null;
  do {
    const page: Loose = await house.operator(
      'GET',
      `/audit?page_size=100${cursor ? `&cursor=${cursor}` : ''}`,
    );
    all.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor);
  return all.reverse();
}

describe('two services that write at once', () => {
  it('keep one chain without gaps, with one entry for each change, while it is being verified', async () => {
    const { entries: before } = await one.operator('GET', '/audit/verify');
    const kinds = ['putForm', 'createPartner', 'createFormSubmission', 'updatePracticeGroup'] as const;
    const calls = await Promise.all(
      Array.from({ length: 80 }, (_, i) => validCall(kinds[i % 4] ?? 'putForm', given)),
    );
    const either = (i: number) => (i % 2 ? one : two);
    const changes = calls.map((call, i) => insist(() => make({ house: either(i) }, call)));
    const patches = Array.from({ length: 80 }, (_, i) => {
      const body = { title: `Title ${i}` };
      return insist(() =>
        either(i).send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group: given.groupId, body }),
      );
    });
    const verdicts = Array.from({ length: 10 }, (_, i) =>
      insist(() => either(i).send('GET', '/operator/v1/audit/verify', { token: OPERATOR_TOKEN })),
    );
    const answers = await Promise.all([...changes, ...patches]);
    expect(answers.map(({ status }) => status).filter((status) => status >= 300)).toEqual([]);
    for (const { body } of await Promise.all(verdicts)) expect(body).toMatchObject({ ok: true });

    const trail = await wholeTrail(two);
    expect(trail.map(({ seq }) => seq)).toEqual(trail.map((_, i) => i + 1));
    const added = trail.slice(before);
    const requests = answers.map(({ headers }) => headers['x-request-id']);
    expect(added.map(({ request_id }) => request_id).sort()).toEqual(requests.sort());
    for (const house of [one, two])
      expect(await house.operator('GET', '/audit/verify')).toEqual({ ok: true, entries: trail.length });
  });

  it('tell the story of one record in order: each entry begins where the one before ended', async () => {
    const trail = await wholeTrail(one);
    const titles = trail.filter(({ action }) => action === 'submission_type.update');
    expect(titles.length).toBeGreaterThan(70);
    for (const [i, entry] of titles.entries()) if (i > 0) expect(entry.before).toEqual(titles[i - 1].after);
    const names = trail.filter(({ action }) => action === 'practice_group.update');
    for (const [i, entry] of names.entries())
      if (i > 0) expect(entry.before.name).toEqual(names[i - 1].after.name);
  });
});
