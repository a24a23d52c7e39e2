import pg from 'pg';
import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { type Answer, type Harness, type Loose, makeWorld, startHarness } from '../../support/service.ts';

const PATH = '/v1/care-nav/submission-types/type-1';
const first = await startHarness();
const second = await startHarness({ databaseUrl: first.databaseUrl, clock: first.clock });
let world: Awaited<ReturnType<typeof makeWorld>>;
beforeEach(async () => {
  world = await makeWorld(first);
});

const patch = (node: Harness, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  node.send('PATCH', PATH, { key: world.key, group: world.groupId, body, headers });

async function audited(): Promise<Loose[]> {
  const query = `action=submission_type.update&practice_group_id=${world.groupId}&page_size=100`;
  return (await first.operator('GET', `/audit?${query}`)).data.reverse();
}

describe('two nodes on one database', () => {
  it('200 for each of 60 updates at the same time: no ETag twice, none lost, an unbroken chain in the audit', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => patch(i % 2 ? first : second, { title: `Title ${i}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map(({ headers }) => headers.etag))).toEqual(
      new Set(answers.map((_, i) => `"${i + 2}"`)),
    );
    const entries = await audited();
    expect(entries).toHaveLength(60);
    let title = 'Type one';
    for (const { before, after } of entries) {
      expect(before.title).toBe(title);
      title = after.title;
    }
    expect((await patch(second, {})).body.title).toBe(title);
    expect((await first.operator('GET', '/audit/verify')).ok).toBe(true);
  });

  it('200 once and 412 otherwise when both nodes edit the same state', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, i) =>
        patch(i % 2 ? first : second, { title: `Editor ${i}` }, { 'if-match': '"1"' }),
      ),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 412)).toHaveLength(39);
  });

  it('200 for each of 20 updates of a row that others change without a pause', async () => {
    let done = false;
    const rival = async () => {
      const client = new pg.Client({ connectionString: first.databaseUrl });
      await client.connect();
      while (!done)
        await client.query(
          "UPDATE submission_types SET version = version + 1 WHERE practice_group_id = $1 AND id = 'type-1'",
          [world.groupId],
        );
      await client.end();
    };
    const rivals = [rival(), rival()];
    const statuses: number[] = [];
    for (let i = 0; i < 20; i++) statuses.push((await patch(first, { title: `Title ${i}` })).status);
    done = true;
    await Promise.all(rivals);
    expect(statuses).toEqual(statuses.map(() => 200));
    expect((await audited()).map(({ after }) => after.title)).toEqual(statuses.map((_, i) => `Title ${i}`));
    expect((await patch(second, {})).body.title).toBe('Title 19');
  });

  /** What a node has seen of a row must never decide, once another node has changed it. */
  describe('what one node changed counts on the other at once', () => {
    beforeEach(async () => {
      expect((await patch(first, { title: 'Seen by the first' })).headers.etag).toBe('"2"');
      expect((await patch(second, { title: 'By the second', order: 5 })).headers.etag).toBe('"3"');
    });

    it('412: the ETag that this node gave out last is no longer the present one', async () => {
      expectProblem(await patch(first, { title: 'Lost' }, { 'if-match': '"2"' }), 412, 'precondition_failed');
      expect((await patch(first, {})).body.title).toBe('By the second');
    });

    it("200: the other node's ETag matches, and its fields stay", async () => {
      const answer = await patch(first, { description: 'Mine' }, { 'if-match': '"3"' });
      expect(answer).toMatchObject({
        status: 200,
        headers: { etag: '"4"' },
        body: { title: 'By the second', order: 5, description: 'Mine' },
      });
    });

    it("200: {} answers with the other node's state", async () => {
      expect(await patch(first, {})).toMatchObject({ headers: { etag: '"3"' }, body: { order: 5 } });
    });

    it('200: a value that this node saw last is a change again', async () => {
      const answer = await patch(first, { title: 'Seen by the first' });
      expect(answer).toMatchObject({
        headers: { etag: '"4"' },
        body: { title: 'Seen by the first', order: 5 },
      });
      expect((await audited()).at(-1)).toMatchObject({ before: { title: 'By the second' } });
    });

    it('200: the value that the other node has set is none', async () => {
      expect((await patch(first, { title: 'By the second' })).headers.etag).toBe('"3"');
      expect(await audited()).toHaveLength(2);
    });

    it('422 and 200: rules look at what the other node left behind', async () => {
      await patch(second, { external_url: 'https://example.org' });
      expect((await patch(first, { external_url_name: 'Name' })).status).toBe(200);
      await patch(second, { external_url: null, external_url_name: null });
      expectProblem(await patch(first, { external_url_name: 'Name' }), 422, 'business_rule_violation', {
        rule: 'external_url_name_without_url',
        path: ['external_url_name'],
      });
    });

    it('200: forms that came in by the other node are counted in the answer', async () => {
      await second.operator('POST', `/practice-groups/${world.groupId}/form-submissions`, {
        submission_type_id: 'type-1',
      });
      expect((await patch(first, { title: 'Counted' })).body.forms_submitted_today).toBe(1);
      expect((await patch(first, {})).body.forms_submitted_today).toBe(1);
    });
  });

  it('200: a form or an assignee that was described a moment ago counts on both nodes', async () => {
    await patch(first, { title: 'Seen' });
    await second.operator('PUT', `/practice-groups/${world.groupId}/forms/new-form`, { title: 'New' });
    expect((await patch(first, { form_id: 'new-form' })).status).toBe(200);
  });
});
