import { describe, expect, it } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { type Transaction, transact } from '../../../src/store/database.ts';
import { findFailed } from '../../../src/store/events/deliveries-replay.ts';
import { expectProblem } from '../../support/answers.ts';
import { fanOutAll, HOOK, newPartner, type Partner, publish, startPost } from '../../support/post.ts';
import { type Loose, OPERATOR_TOKEN } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const db = await superuser(house.databaseUrl);

const retryFailed = (id: string, token = OPERATOR_TOKEN) =>
  house.send('POST', `/operator/v1/webhooks/${id}/retry-failed`, { token });
const states = async (id: string): Promise<string[]> => {
  const { rows } = await db.query(
    `SELECT state FROM deliveries WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1) ORDER BY sequence`,
    [id],
  );
  return rows.map(({ state }) => state);
};
const finish = (id: string, state: string, sequences: number[]) =>
  db.query(
    `UPDATE deliveries SET state = $2, tries = 10, retry_at = NULL, finished_at = now()
      WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1) AND sequence = ANY ($3)`,
    [id, state, sequences],
  );
const newWebhook = async (partner: Partner, body: object = {}): Promise<string> =>
  (await partner.call('POST', '/v1/webhooks', { url: HOOK, ...body })).id;
const audited = async (id: string): Promise<Loose[]> =>
  (await house.operator('GET', '/audit?page_size=100')).data.filter(
    ({ action, subject }: Loose) => action === 'webhook.retry-failed' && subject.id === id,
  );

describe('POST /operator/v1/webhooks/{id}/retry-failed', () => {
  it('202: what was given up, and nothing else, goes out again in its order, and the audit tells it once', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    await publish(
      house,
      partner.groupId,
      ['appointment.confirmed', 'a'],
      ['appointment.cancelled', 'a'],
      'prescription.issued',
      'prescription.issued',
    );
    await fanOutAll(house);
    await finish(id, 'failed', [1, 2, 3]);
    await finish(id, 'delivered', [4]);
    const answer = await retryFailed(id);
    expect([answer.status, answer.body]).toEqual([202, { count: 3, has_more: false }]);
    // The second is about the same object as the first, and waits for it.
    expect(await states(id)).toEqual(['due', 'waiting', 'due', 'delivered']);
    expect((await retryFailed(id)).body).toEqual({ count: 0, has_more: false });
    expect(await audited(id)).toHaveLength(1);
  });

  it('202: thousands, in parts', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    for (let n = 0; n < 3; n++)
      await publish(
        house,
        partner.groupId,
        ...Array.from({ length: 700 }, () => 'prescription.issued' as const),
      );
    await fanOutAll(house);
    await finish(
      id,
      'failed',
      Array.from({ length: 2_100 }, (_, n) => n + 1),
    );
    await finish(id, 'delivered', [50, 1_500]);
    expect((await retryFailed(id)).body).toEqual({ count: 2_098, has_more: false });
    expect((await states(id)).filter((state) => state === 'failed')).toEqual([]);
    expect(await audited(id)).toHaveLength(1);
  });

  it('misses nothing when old deliveries are cleared away meanwhile', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    const no = (await db.query('SELECT no FROM webhooks WHERE id = $1', [id])).rows[0].no;
    await db.query(
      `WITH e AS (
         INSERT INTO events (id, practice_group_id, event, object_id, object_hash, payload, source, accepted_at)
         SELECT 'evt_old_' || n, $2, 'appointment.confirmed', 'a', n, '{}', 's', now() FROM generate_series(1, 10200) AS n RETURNING no, object_hash
       )
       INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at, finished_at)
       SELECT $1, object_hash, no, object_hash, CASE WHEN object_hash > 10100 THEN 'failed' ELSE 'delivered' END, now(), now() FROM e`,
      [no, partner.groupId],
    );
    let found = 0;
    // Between the two statements of the first stretch.
    const clear = () => db.query('DELETE FROM deliveries WHERE webhook_no = $1 AND sequence <= 500', [no]);
    for (let after: number | null = 0; after !== null; ) {
      const from: number = after;
      const failed = await transact(house.service.app.db, SYSTEM, (tx) => {
        const query: Transaction['query'] = async (text, values) => {
          const rows = await tx.query(text, values);
          if (from === 0) await clear();
          return rows as never;
        };
        const first = async (text: string, values: readonly unknown[]) => (await query(text, values))[0];
        return findFailed({ query, first } as Transaction, no, [partner.groupId], from);
      });
      found += failed.nos.length;
      after = failed.end;
    }
    expect(found).toBe(100);
  });

  it('202: of a webhook for all practice groups, what its partner may receive at present', async () => {
    const partner = await newPartner(house);
    const second = await newPartner(house);
    const other = await house.operator('POST', '/keys', {
      partner_id: partner.partnerId,
      practice_group_id: second.groupId,
      scopes: ['events:read'],
    });
    const id = await newWebhook(partner, { practice_groups: 'all' });
    await publish(house, partner.groupId, 'prescription.issued');
    await publish(house, second.groupId, 'prescription.issued');
    await fanOutAll(house);
    await finish(id, 'failed', [1, 2]);
    await house.operator('POST', `/keys/${other.id}/revoke`);
    expect((await retryFailed(id)).body).toEqual({ count: 1, has_more: false });
    expect((await states(id)).sort()).toEqual(['due', 'failed']);
  });

  it('409: a webhook that is disabled, and one whose partner may receive nothing; 404: none; 403: a viewer', async () => {
    const partner = await newPartner(house);
    const id = await newWebhook(partner);
    await db.query("UPDATE webhooks SET status = 'disabled' WHERE id = $1", [id]);
    expect((await retryFailed(id)).body.message).toContain('activate it first');
    await db.query("UPDATE webhooks SET status = 'active' WHERE id = $1", [id]);
    await house.operator('POST', `/partners/${partner.partnerId}/suspend`);
    expect((await retryFailed(id)).status).toBe(409);
    expectProblem(await retryFailed('none'), 404, 'not_found');
    const { token } = await house.operator('POST', '/operators', { name: 'Vera', role: 'viewer' });
    expect((await retryFailed(id, token)).status).toBe(403);
    expect(await audited(id)).toEqual([]);
  });
});
