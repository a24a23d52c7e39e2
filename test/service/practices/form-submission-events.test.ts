import { describe, expect, it } from 'vitest';
import { fresh } from '../../support/operator-calls.ts';
import { type Loose, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

const { house, world } = await serviceForTests();
const { groupId } = world;

const submit = (submission_type_id: string, id: string) =>
  house.send('POST', `/operator/v1/practice-groups/${groupId}/form-submissions`, {
    token: OPERATOR_TOKEN,
    body: { submission_type_id, id },
  });

const said = async (id: string) =>
  (await house.operator('GET', `/events?practice_group_id=${groupId}&page_size=100`)).data
    .map(({ payload }: Loose) => payload)
    .filter((payload: Loose) => payload.id === id);

async function newType(settings: object): Promise<string> {
  const body = { id: fresh('kind'), pathway_id: 'p', title: 'T', ...settings };
  return (await house.operator('POST', `/practice-groups/${groupId}/submission-types`, body)).id;
}

describe('a form submission', () => {
  it('201: is an event', async () => {
    const id = fresh('form');
    expect((await submit('type-1', id)).status).toBe(201);
    expect(await said(id)).toEqual([
      { object: 'FormSubmission', id, practice_group_id: groupId, event: 'form-submission.created' },
    ]);
  });

  it('409: sent again is not another event', async () => {
    const id = fresh('form');
    const answers = await Promise.all(Array.from({ length: 10 }, () => submit('type-1', id)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(await said(id)).toHaveLength(1);
  });

  it('201: is an event, whatever it is marked with', async () => {
    const capped = await newType({ daily_limit: 2 });
    const ids = Array.from({ length: 6 }, () => fresh('form'));
    const answers = await Promise.all(ids.map((id) => submit(capped, id)));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 201));
    expect(answers.filter(({ body }) => body.over_limit)).toHaveLength(4);
    const suspended = fresh('form');
    expect((await submit(await newType({ suspended: true }), suspended)).body.suspended).toBe(true);
    for (const id of [...ids, suspended]) expect(await said(id)).toHaveLength(1);
  });
});
