import type pg from 'pg';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { expectProblem } from '../support/answers.ts';
import { type Answer, type Harness, makeWorld, OPERATOR_TOKEN, startHarness } from '../support/service.ts';
import { superuser } from '../support/superuser.ts';

let house: Harness;
let admin: pg.Client;
let world: Awaited<ReturnType<typeof makeWorld>>;
beforeAll(async () => {
  house = await startHarness({ env: { PORTER_ROLE: 'api' } });
  admin = await superuser(house.databaseUrl);
});
beforeEach(async () => {
  world = await makeWorld(house);
});

const operator = (method: string, path: string, body?: unknown) =>
  house.send(method, `/operator/v1${path}`, { token: OPERATOR_TOKEN, body });

/** Makes a call while somebody else's change is written but not committed: until it waits for that, or is answered without. */
async function beside(sql: string, values: unknown[], call: () => Promise<Answer>): Promise<Answer> {
  await admin.query('BEGIN');
  await admin.query(sql, values);
  let answered = false;
  const answer = call().finally(() => {
    answered = true;
  });
  const waiting = `SELECT pg_stat_clear_snapshot() FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while (!answered && (await admin.query(waiting)).rowCount === 0);
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
