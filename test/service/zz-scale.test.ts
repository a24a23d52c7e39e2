import { it } from 'vitest';
import { HOOK, newPartner, startPost } from '../support/post.ts';
import { superuser } from '../support/superuser.ts';
it('scale', async () => {
  const house = await startPost();
  const db = await superuser(house.databaseUrl);
  const own = await newPartner(house);
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push((await own.call('POST', '/v1/webhooks', { url: HOOK })).id);
  await db.query(`SET synchronous_commit = off`);
  await db.query(
    `INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source_id, accepted_at, position)
     SELECT 'bulk-' || n, CASE WHEN n % 2 = 0 THEN $1 ELSE 'bulk-' || n % 50 END, CASE WHEN n < 100 THEN 'prescription.issued' ELSE 'appointment.confirmed' END, 'o', n, '{"a":1}', 's', '2026-11-01T00:00:00Z'::timestamptz + n * interval '1 second', n
       FROM generate_series(1, 600000) AS n`, [own.groupId]);
  await db.query(
    `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, due_at, created_at)
     SELECT w.no, e.no, e.no, object_hash, CASE WHEN e.no % 400 = 0 THEN 'waiting' ELSE 'delivered' END, now(), now() FROM events e, webhooks w WHERE w.id = ANY($1) AND e.practice_group_id = $2`, [ids, own.groupId]);
  await db.query('VACUUM ANALYZE events, deliveries, webhooks, webhook_lanes');
  const w = ids[0];
  const time = async (name: string, run: () => Promise<{ status: number; body: unknown }>) => {
    const times = [];
    let a;
    for (let i = 0; i < 8; i++) { const t = performance.now(); a = await run(); times.push(performance.now() - t); }
    const b = a?.body as { count?: number; next_cursor?: string; data?: unknown[]; health?: unknown };
    console.log(name, a?.status, times.map((x) => Math.round(x)).join(' '), b.count, String(b.next_cursor).slice(0, 10), JSON.stringify(b.health ?? ''));
  };
  const p = (path: string) => () => own.send('GET', path);
  const o = (path: string) => () => house.send('GET', `/operator/v1${path}`, { token: 'test-operator-token-of-24-or-more' });
  await time('hook', p(`/v1/webhooks/${w}`));
  await time('hooks', p('/v1/webhooks'));
  await time('deliveries', p(`/v1/webhooks/${w}/deliveries`));
  await time('deliveries failed', p(`/v1/webhooks/${w}/deliveries?status=failed`));
  await time('deliveries waiting', p(`/v1/webhooks/${w}/deliveries?status=waiting`));
  await time('deliveries event', p(`/v1/webhooks/${w}/deliveries?event=prescription.issued`));
  await time('one', p(`/v1/webhooks/${w}/deliveries/dlv_${w.slice(3)}_300000`));
  await time('feed', p('/v1/events'));
  await time('feed rare', p('/v1/events?event_types=patient.added-to-sequence'));
  await time('o all', o('/deliveries'));
  await time('o failed', o('/deliveries?status=failed'));
  await time('o hook', o(`/deliveries?webhook_id=${w}`));
  await time('o hook failed', o(`/deliveries?webhook_id=${w}&status=failed`));
  await time('o group', o(`/deliveries?practice_group_id=${own.groupId}`));
  await time('o group failed', o(`/deliveries?practice_group_id=${own.groupId}&status=failed`));
  await time('o empty group failed', o(`/deliveries?practice_group_id=bulk-7&status=failed`));
  await time('o event', o('/deliveries?event_id=bulk-10'));
  await time('o hooks', o('/webhooks'));
  const t = performance.now();
  const r = await own.send('POST', `/v1/webhooks/${w}/replay`, { since: '2026-11-12T00:00:00Z' });
  console.log('replay', r.status, r.text, Math.round(performance.now() - t));
}, 200_000);
