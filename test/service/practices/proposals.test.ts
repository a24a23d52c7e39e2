import pg from 'pg';
import { expect, it } from 'vitest';
import { propose, withdrawProposal } from '../../../src/store/practices/write-through.ts';
import { afterwards } from '../../support/afterwards.ts';
import { openDeliveryHarness } from '../../support/delivery-harness.ts';

/** Changes of one submission type, put to the software of a practice, and another connection that stands in the way. */
async function practice() {
  const { db, admin, rows } = await openDeliveryHarness();
  const [{ no }] = (await rows(
    `WITH w AS (INSERT INTO webhooks (id, url, event_types, status, created_at, updated_at, audience)
       VALUES ('wh_software', 'https://software.example/hook', '{}', 'active', now(), now(), 'operator') RETURNING no),
     lane AS (INSERT INTO webhook_lanes (webhook_no) SELECT no FROM w),
     through AS (INSERT INTO write_through SELECT 'practice', no, now(), now() FROM w),
     practice AS (INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
       VALUES ('practice', 'Practice', 'Europe/London', '{}', now(), now()) RETURNING id),
     type AS (INSERT INTO submission_types (practice_group_id, id, pathway_id, title, in_hours, out_of_hours, suspended, default_priority,
         patient_eligibility_check, created_at, updated_at)
       SELECT id, 'type-1', 'pathway', 'Type', true, true, false, 'medium', false, now(), now() FROM practice)
     SELECT no FROM w`,
  )) as [{ no: number }];
  const { user, host, port, database, password } = admin;
  const other = new pg.Client({ user, host, port, database, password: password ?? undefined });
  await other.connect();
  afterwards(() => other.end());
  const change = (id: string) => ({
    id,
    practice_group_id: 'practice',
    object_id: 'type-1',
    webhook_no: no,
    partner_id: 'partner',
    payload: { id, after: {} },
  });
  return {
    rows,
    other,
    ask: async (id: string) => {
      const versions = { rowVersion: 1, webhookVersion: 1 };
      return (await propose(db, change(id), versions, 60_000, () => 0)) !== undefined;
    },
    withdraw: (id: string) => withdrawProposal(db, id, new Date().toISOString()),
    waiting: () =>
      rows(
        'SELECT FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()',
      ),
    withdrawals: () =>
      rows("SELECT state FROM deliveries JOIN events ON no = event_no WHERE event = 'change.withdrawn'"),
  };
}

it('nothing is proposed while the practice software has still to hear that an earlier change was withdrawn', async () => {
  const { rows, other, ask, withdraw, waiting, withdrawals } = await practice();
  expect(await ask('chg_first')).toBe(true);
  expect(await ask('chg_second')).toBe(false);

  // Whoever puts something into the queue of the webhook has its lane for a moment; another node asks meanwhile.
  await other.query('BEGIN; SELECT FROM webhook_lanes FOR UPDATE');
  const withdrawn = withdraw('chg_first');
  await expect.poll(waiting).toHaveLength(1);
  const second = ask('chg_second');
  await expect.poll(waiting).toHaveLength(2);
  await other.query('COMMIT');
  await withdrawn;
  expect(await withdrawals()).toEqual([{ state: 'due' }]);
  expect(await second).toBe(false);
  expect(await rows('SELECT FROM proposals')).toEqual([]);
});

it('a change is withdrawn at once, also while another node asks whether the next one may be proposed', async () => {
  const { rows, other, ask, withdraw, waiting, withdrawals } = await practice();
  expect(await ask('chg_first')).toBe(true);
  // The other node has begun to ask, and goes on only afterwards.
  await other.query('BEGIN; LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE');
  const second = ask('chg_second');
  await expect.poll(waiting).toHaveLength(1);
  let isOver = false;
  const withdrawn = withdraw('chg_first').finally(() => {
    isOver = true;
  });
  // It has to queue what the software is told; if it does not, it is over already, and has passed the change over.
  await expect.poll(async () => isOver || (await waiting()).length === 2).toBe(true);
  await other.query('COMMIT');
  await Promise.all([second, withdrawn]);
  expect(await withdrawals()).toEqual([{ state: 'due' }]);
  expect(await rows("SELECT FROM proposals WHERE id = 'chg_first'")).toEqual([]);
});

it('a change is withdrawn once the transaction that could not make it is rolled back', async () => {
  const { rows, other, ask, withdraw, waiting, withdrawals } = await practice();
  expect(await ask('chg_first')).toBe(true);
  await other.query("BEGIN; DELETE FROM proposals WHERE id = 'chg_first'");
  const withdrawn = withdraw('chg_first');
  await expect.poll(waiting).toHaveLength(1);
  await other.query('ROLLBACK');
  await withdrawn;
  expect(await withdrawals()).toEqual([{ state: 'due' }]);
  expect(await rows('SELECT FROM proposals')).toEqual([]);
});
