import { expect, it } from 'vitest';
import { OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

/** Keys for many practice groups in one call. */

const { house, world, db } = await serviceForTests({ env: { PORTER_ROLE: 'api' } });
const issue = (body: object) =>
  house.send('POST', '/operator/v1/keys/bulk', {
    token: OPERATOR_TOKEN,
    body: { partner_id: world.partnerId, scopes: ['practice-groups:read', 'events:read'], ...body },
  });
const count = async () => Number((await db.query('SELECT count(*) FROM api_keys')).rows[0].count);

it('201: a key for each of a thousand practice groups, which work, each with its audit entry', async () => {
  await db.query(
    `INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
     SELECT 'many-' || n, 'Practice', 'Europe/London', '{}', now(), now() FROM generate_series(1, 1000) AS n`,
  );
  const practice_group_ids = Array.from({ length: 1_000 }, (_, n) => `many-${n + 1}`);
  const before = await count();
  const answer = await issue({ practice_group_ids, label: 'Roll-out', rate_limit_per_minute: 60 });
  expect(answer.status).toBe(201);
  const { data } = answer.body;
  expect(data.map(({ practice_group_id }: { practice_group_id: string }) => practice_group_id)).toEqual(
    practice_group_ids,
  );
  expect(new Set(data.map(({ key }: { key: string }) => key)).size).toBe(1_000);
  expect(await count()).toBe(before + 1_000);
  for (const { key, id, practice_group_id: group } of [data[0], data[999]]) {
    expect((await house.send('GET', '/v1/practice-groups', { key, group })).body.data[0].id).toBe(group);
    expect(await house.operator('GET', `/keys/${id}`)).toMatchObject({
      label: 'Roll-out',
      rate_limit_per_minute: 60,
      scopes: ['practice-groups:read', 'events:read'],
    });
    const { rows } = await db.query(
      'SELECT action, practice_group_id FROM audit_entries WHERE subject_id = $1',
      [id],
    );
    expect(rows).toEqual([{ action: 'key.issue', practice_group_id: group }]);
  }
});

it('400: tells of every practice group that does not exist or is named twice, and issues none', async () => {
  const before = await count();
  const answer = await issue({ practice_group_ids: [world.groupId, 'none-1', world.groupId, 'none-2'] });
  expect(answer.status).toBe(400);
  expect(answer.body.message.map(({ path }: { path: unknown[] }) => path)).toEqual([
    ['practice_group_ids', 1],
    ['practice_group_ids', 2],
    ['practice_group_ids', 3],
  ]);
  expect(await count()).toBe(before);
});

it('400: none, or more than a thousand', async () => {
  expect((await issue({ practice_group_ids: [] })).status).toBe(400);
  const many = Array.from({ length: 1_001 }, (_, n) => `g-${n}`);
  expect((await issue({ practice_group_ids: many })).status).toBe(400);
});

it('422: a partner that is not verified, or not there', async () => {
  const { id } = await house.operator('POST', '/partners', { name: 'New', contact_email: 'a@b.example' });
  const practice_group_ids = [world.groupId];
  expect((await issue({ partner_id: id, practice_group_ids })).body.rule).toBe('partner_not_verified');
  expect((await issue({ partner_id: 'prt_none', practice_group_ids })).body.rule).toBe('partner_unknown');
});
