import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { type Answer, makeWorld, startHarness } from '../../support/service.ts';

const PATH = '/v1/care-nav/submission-types/type-1';
const house = await startHarness();
let world: Awaited<ReturnType<typeof makeWorld>>;
beforeAll(async () => {
  // Another group's directory, to see that it does not count.
  const other = await makeWorld(house);
  await house.operator('PUT', `/practice-groups/${other.groupId}/forms/their-form`, { title: 'Form' });
  await house.operator('PUT', `/practice-groups/${other.groupId}/assignees/Admin/their-ann`, { name: 'Ann' });
});
beforeEach(async () => {
  world = await makeWorld(house);
});

const patch = (body: unknown): Promise<Answer> =>
  house.send('PATCH', PATH, { key: world.key, group: world.groupId, body });

async function given(body: unknown): Promise<void> {
  const answer = await patch(body);
  expect(answer.status, answer.text).toBe(200);
}

async function refusedBy(rule: string, path: string, body: unknown): Promise<void> {
  const before = await house.send('GET', PATH, { key: world.key, group: world.groupId });
  expectProblem(await patch(body), 422, 'business_rule_violation', { rule, path: [path] });
  const after = await house.send('GET', PATH, { key: world.key, group: world.groupId });
  expect(after.body).toEqual(before.body);
  expect(after.headers.etag).toBe(before.headers.etag);
}

describe('422 assignee_pair: assignee_id and assignee_type are both set or both null', () => {
  it('only one of them, where neither was set', async () => {
    await refusedBy('assignee_pair', 'assignee_type', { assignee_id: 'ann' });
    await refusedBy('assignee_pair', 'assignee_type', { assignee_type: 'Admin' });
    await refusedBy('assignee_pair', 'assignee_type', { assignee_id: 'ann', assignee_type: null });
  });

  it('only one of them cleared, where both were set', async () => {
    await given({ assignee_id: 'ann', assignee_type: 'Admin' });
    await refusedBy('assignee_pair', 'assignee_type', { assignee_id: null });
    await refusedBy('assignee_pair', 'assignee_type', { assignee_type: null });
  });

  it('200: both set and both cleared in one call', async () => {
    await given({ assignee_id: 'desk', assignee_type: 'AdminTeam' });
    await given({ assignee_id: null, assignee_type: null });
  });

  it('200: one of them, where the merged result has both', async () => {
    await house.operator('PUT', `/practice-groups/${world.groupId}/assignees/Admin/bob`, { name: 'Bob' });
    await given({ assignee_id: 'ann', assignee_type: 'Admin' });
    await given({ assignee_id: 'bob' });
    await given({ assignee_type: 'Admin' });
    await given({ assignee_type: null, assignee_id: null });
    await given({ assignee_id: null });
  });
});

describe("422 assignee_unknown: the assignee is in the group's directory, with that type", () => {
  it('an ID that nobody has', async () => {
    await refusedBy('assignee_unknown', 'assignee_id', { assignee_id: 'nobody', assignee_type: 'Admin' });
  });

  it('an ID of the other type', async () => {
    await refusedBy('assignee_unknown', 'assignee_id', { assignee_id: 'ann', assignee_type: 'AdminTeam' });
    await refusedBy('assignee_unknown', 'assignee_id', { assignee_id: 'desk', assignee_type: 'Admin' });
  });

  it("an ID of another group's directory", async () => {
    await refusedBy('assignee_unknown', 'assignee_id', { assignee_id: 'their-ann', assignee_type: 'Admin' });
  });

  it('a type alone that does not go with the ID that is there', async () => {
    await given({ assignee_id: 'ann', assignee_type: 'Admin' });
    await refusedBy('assignee_unknown', 'assignee_id', { assignee_type: 'AdminTeam' });
  });

  it('an ID alone that does not go with the type that is there', async () => {
    await given({ assignee_id: 'ann', assignee_type: 'Admin' });
    await refusedBy('assignee_unknown', 'assignee_id', { assignee_id: 'desk' });
  });

  it('200: a type alone, once the directory has that ID with that type', async () => {
    await given({ assignee_id: 'ann', assignee_type: 'Admin' });
    await house.operator('PUT', `/practice-groups/${world.groupId}/assignees/AdminTeam/ann`, {
      name: 'Anns',
    });
    await given({ assignee_type: 'AdminTeam' });
  });

  it('an ID that differs in case', async () => {
    await refusedBy('assignee_unknown', 'assignee_id', { assignee_id: 'Ann', assignee_type: 'Admin' });
  });
});

describe('422 form_unknown: form_id is a form of this group', () => {
  it("an ID that no form has, and one of another group's form", async () => {
    await refusedBy('form_unknown', 'form_id', { form_id: 'nothing' });
    await refusedBy('form_unknown', 'form_id', { form_id: 'their-form' });
    await refusedBy('form_unknown', 'form_id', { form_id: 'ann' });
  });

  it('200: a form of the group, and null', async () => {
    await given({ form_id: 'form-1' });
    await given({ form_id: null });
  });
});

describe('422 external_url_name_without_url: a name needs a URL', () => {
  it('a name where there is no URL', async () => {
    await refusedBy('external_url_name_without_url', 'external_url_name', { external_url_name: 'Form' });
    await refusedBy('external_url_name_without_url', 'external_url_name', {
      external_url_name: 'Form',
      external_url: null,
    });
  });

  it('the URL cleared under a name that stays', async () => {
    await given({ external_url: 'https://example.org', external_url_name: 'Form' });
    await refusedBy('external_url_name_without_url', 'external_url_name', { external_url: null });
  });

  it('200: a name to a URL that is there, a URL without a name, both cleared', async () => {
    await given({ external_url: 'https://example.org' });
    await given({ external_url_name: 'Form' });
    await given({ external_url_name: null });
    await given({ external_url_name: 'Form' });
    await given({ external_url: null, external_url_name: null });
  });
});

describe('a rule speaks only when the request touches one of its fields', () => {
  /** No call can break a rule, so rows that break all four come from where the operator's imports come from. */
  async function breakAllRules(): Promise<void> {
    await house.service.app.db.pool.query(
      `SELECT set_config('porter.tenant', '*', false);
       UPDATE submission_types SET assignee_id = 'gone', assignee_type = NULL, form_id = 'gone',
              external_url = NULL, external_url_name = 'Gone'
        WHERE practice_group_id = '${world.groupId}';
       SELECT set_config('porter.tenant', '', false)`,
    );
  }

  it('200: fields that no rule is about can be changed on a row that breaks all four', async () => {
    await breakAllRules();
    const answer = await patch({ title: 'Still works', order: 2, suspended: true });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ title: 'Still works', assignee_id: 'gone', form_id: 'gone' });
    await given({});
  });

  it('422: touching one field wakes its own rule and no other', async () => {
    await breakAllRules();
    await refusedBy('assignee_pair', 'assignee_type', { assignee_type: null });
    await refusedBy('form_unknown', 'form_id', { form_id: 'gone' });
    await refusedBy('external_url_name_without_url', 'external_url_name', { external_url: null });
    await given({ form_id: 'form-1' });
    await given({ external_url: 'https://example.org' });
    await given({ assignee_id: 'ann', assignee_type: 'Admin' });
  });
});
