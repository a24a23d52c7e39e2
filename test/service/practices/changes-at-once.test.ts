import { beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../../support/answers.ts';
import { type Answer, type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startHarness({ env: { PORTER_ROLE: 'api' } });
const admin = await superuser(house.databaseUrl);
let world: Awaited<ReturnType<typeof makeWorld>>;
beforeEach(async () => {
  world = await makeWorld(house);
});

const operator = (method: string, path: string, body?: unknown) =>
  house.send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });

/** Makes a call while somebody else's change is written but not committed: until it waits for that, or is answered without. */
async function beside(
  sql: string,
  values: unknown[],
  call: () => Promise<Answer>,
  meanwhile = () => {},
): Promise<Answer> {
  await admin.query('BEGIN');
  await admin.query(sql, values);
  let answered = false;
  const answer = call().finally(() => {
    answered = true;
  });
  const waiting = `SELECT pg_stat_clear_snapshot() FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while (!answered && (await admin.query(waiting)).rowCount === 0);
  meanwhile();
  await admin.query('COMMIT');
  return answer;
}

describe('a partner that is being suspended', () => {
  const suspending = "UPDATE partners SET status = 'suspended' WHERE id = $1";
  const refusal = { rule: 'partner_not_verified', path: ['partner_id'] };

  it('422: gets no further key', async () => {
    const answer = await beside(suspending, [world.partnerId], () =>
      operator('POST', '/keys', {
        partner_id: world.partnerId,
        practice_group_id: world.groupId,
        scopes: ['events:read'],
      }),
    );
    expectProblem(answer, 422, 'business_rule_violation', refusal);
  });

  it('422: gets none by rotation', async () => {
    const answer = await beside(suspending, [world.partnerId], () =>
      operator('POST', `/keys/${world.keyId}/rotate`),
    );
    expectProblem(answer, 422, 'business_rule_violation', refusal);
    expect(await house.operator('GET', `/keys/${world.keyId}`)).toMatchObject({ replaced_by: null });
  });
});

it('the answer to a change of a webhook that had to wait tells how the webhook is doing since', async () => {
  const send = (method: string, path: string, body: unknown) =>
    house.send(method, `/v1/webhooks${path}`, { key: world.key, group: world.groupId, body });
  const { id } = (await send('POST', '', { url: 'https://partner.example/hook' })).body;
  const failed = `UPDATE webhook_lanes SET failures = $2, failing_since = $3
                   WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)`;
  await admin.query(failed, [id, 7, '2026-11-15T10:00:00.000Z']);
  // As when the address is changed: the failures of the old one are forgotten.
  const changing = `WITH w AS (UPDATE webhooks SET url = 'https://new.example/', version = version + 1 WHERE id = $1 RETURNING no)
                    UPDATE webhook_lanes SET failures = 0, failing_since = NULL FROM w WHERE webhook_no = w.no`;
  const answer = await beside(changing, [id], () => send('PATCH', `/${id}`, { description: 'New' }));
  expect(answer).toMatchObject({
    status: 200,
    headers: { etag: '"3"' },
    body: { url: 'https://new.example/', health: { failures: 0, failing_since: null } },
  });
});

it('404: a webhook that is being deleted is not replayed to', async () => {
  const send = (method: string, path: string, body?: unknown) =>
    house.send(method, `/v1/webhooks${path}`, { key: world.key, group: world.groupId, body });
  const { id } = (await send('POST', '', { url: 'https://partner.example/hook' })).body;
  const { event_id } = (await send('POST', `/${id}/test`, { event: 'appointment.confirmed' })).body;
  const answer = await beside('UPDATE webhooks SET deleted_at = updated_at WHERE id = $1', [id], () =>
    send('POST', `/${id}/replay`, { event_ids: [event_id] }),
  );
  expectProblem(answer, 404, 'not_found');
  const { data } = await house.operator('GET', `/audit?practice_group_id=${world.groupId}`);
  expect(data.map(({ action }: Loose) => action)).not.toContain('webhook.replay');
});

describe('updated_at of a change that had to wait for another', () => {
  /** What is locked, and the change that waits for it; its answer, or what is read afterwards, tells updated_at. */
  interface Case {
    table: string;
    id: () => Promise<string> | string;
    change: (id: string) => Promise<Answer>;
    read?: (id: string) => Promise<Answer>;
  }
  const group = { table: 'practice_groups', id: () => world.groupId };
  const partner = (method: string, path: string, body?: unknown) =>
    house.send(method, `/v1/webhooks${path}`, { key: world.key, group: world.groupId, body });
  const webhook = {
    table: 'webhooks',
    id: async () => (await partner('POST', '', { url: 'https://partner.example/hook' })).body.id,
    read: (id: string) => partner('GET', `/${id}`),
  };
  const network = {
    table: 'networks',
    id: async () => (await operator('POST', '/networks', { name: 'N', practice_group_ids: [] })).body.id,
    read: (id: string) => operator('GET', `/networks/${id}`),
  };
  const cases: Record<string, Case> = {
    'a practice group': {
      ...group,
      change: (id) => operator('PATCH', `/practice-groups/${id}`, { name: 'New' }),
    },
    'a form': {
      ...group,
      change: (id) => operator('PUT', `/practice-groups/${id}/forms/form-1`, { title: 'New' }),
    },
    'an assignee': {
      ...group,
      change: (id) => operator('PUT', `/practice-groups/${id}/assignees/Admin/ann`, { name: 'New' }),
    },
    'a partner': {
      table: 'partners',
      id: () => world.partnerId,
      change: (id) => operator('POST', `/partners/${id}/suspend`),
    },
    'a network': {
      ...network,
      change: (id) => operator('PUT', `/networks/${id}/members/${world.groupId}`),
    },
    'a webhook': { ...webhook, change: (id) => partner('PATCH', `/${id}`, { description: 'New' }) },
    'the secret of a webhook': { ...webhook, change: (id) => partner('POST', `/${id}/rotate-secret`) },
  };

  it.each(Object.entries(cases))(
    'is not from before the wait: %s',
    async (_, { table, id, change, read }) => {
      const named = await id();
      let over = 0;
      const answer = await beside(
        `SELECT FROM ${table} WHERE id = $1 FOR UPDATE`,
        [named],
        () => change(named),
        () => {
          house.clock.advance(700);
          over = house.clock.now();
        },
      );
      expect(answer.status).toBeLessThan(300);
      const { updated_at } = ((await read?.(named)) ?? answer).body;
      expect(updated_at).toBe(new Date(over).toISOString());
    },
  );
});
