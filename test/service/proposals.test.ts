import pg from 'pg';
import { expect, it } from 'vitest';
import { propose, withdrawProposal } from '../../src/store/write-through.ts';
import { afterwards } from '../support/afterwards.ts';
import { openDeliveryHarness } from '../support/delivery-harness.ts';

it('nothing is proposed while the practice software has still to hear that an earlier change was withdrawn', async () => {
  const { db, admin, rows } = await openDeliveryHarness();
  const [{ no }] = (await rows(
    `WITH w AS (INSERT INTO webhooks (id, url, event_types, status, created_at, updated_at, audience)
       VALUES ('wh_software', 'https://software.example/hook', '{}', 'active', now(), now(), 'operator') RETURNING no),
     lane AS (INSERT INTO webhook_lanes (webhook_no) SELECT no FROM w),
     through AS (INSERT INTO write_through SELECT 'group', no, now(), now() FROM w)
     SELECT no FROM w`,
  )) as [{ no: number }];
  const proposal = (id: string) => ({
    id,
    practice_group_id: 'group',
    object_id: 'type-1',
    webhook_no: no,
    partner_id: 'partner',
    payload: { id },
  });
  expect(await propose(db, proposal('chg_first'), 60_000)).toBe(true);
  expect(await propose(db, proposal('chg_second'), 60_000)).toBe(false);

  // Whoever puts something into the queue of the webhook has its lane for a moment; another node asks meanwhile.
  const { user, host, port, database, password } = admin;
  const other = new pg.Client({ user, host, port, database, password: password ?? undefined });
  await other.connect();
  afterwards(() => other.end());
  await other.query('BEGIN; SELECT FROM webhook_lanes FOR UPDATE');
  const waiting = () =>
    rows(
      'SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()',
    );
  const withdrawn = withdrawProposal(db, 'chg_first', new Date().toISOString());
  await expect.poll(waiting).toHaveLength(1);
  const second = propose(db, proposal('chg_second'), 60_000);
  await expect.poll(waiting).toHaveLength(2);
  await other.query('COMMIT');
  await withdrawn;
  expect(
    await rows("SELECT state FROM deliveries JOIN events ON no = event_no WHERE event = 'change.withdrawn'"),
  ).toEqual([{ state: 'due' }]);
  expect(await second).toBe(false);
});
