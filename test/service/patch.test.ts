import { beforeAll, describe, expect, it } from 'vitest';
import { type Harness, makeWorld, startHarness } from '../support/service.ts';

const PATH = '/v1/care-nav/submission-types/type-1';
let house: Harness;
let world: Awaited<ReturnType<typeof makeWorld>>;
beforeAll(async () => {
  house = await startHarness();
});

const patch = (body: unknown, headers: Record<string, string> = {}, path = PATH) =>
  house.send('PATCH', path, { key: world.key, group: world.groupId, body, headers });

describe('PATCH /v1/care-nav/submission-types/{id}', () => {
  beforeAll(async () => {
    world = await makeWorld(house);
  });

  it('200: answers with every field of the specification', async () => {
    const answer = await patch({ title: 'New title' });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id: 'type-1',
      pathway_id: 'pathway-1',
      form_id: null,
      title: 'New title',
      description: null,
      in_hours: true,
      out_of_hours: true,
      suspended: false,
      external_url: null,
      external_url_name: null,
      type: null,
      default_priority: 'medium',
      daily_limit: null,
      forms_submitted_today: 0,
      patient_eligibility_check: false,
      assignee_id: null,
      assignee_type: null,
      order: null,
      created_at: '2026-11-16T10:00:00.000Z',
      updated_at: '2026-11-16T10:00:00.000Z',
    });
  });
});
