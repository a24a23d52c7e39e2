import { describe, expect, it, onTestFinished } from 'vitest';
import { SYSTEM } from '../../../src/domain/access/principal.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { Figures } from '../../../src/runtime/oversight/figures.ts';
import { closeDatabase, openDatabase, transact } from '../../../src/store/database.ts';
import { readOldestUndelivered } from '../../../src/store/events/queue-numbers.ts';
import { clearSome } from '../../../src/store/oversight/retention.ts';
import { expectInvalid, expectProblem } from '../../support/answers.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { RETENTION } from '../../support/delivery-harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { fanOutAll, HOOK, newPartner, type Partner, publish } from '../../support/post.ts';
import { type Loose, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Nobody looks but the test. */
class StillClock extends ManualClock {
  override timer(milliseconds: number, fire: () => void): () => void {
    return milliseconds < 10_000 ? super.timer(milliseconds, fire) : () => {};
  }
}
const house = await startHarness({ env: { PORTER_ROLE: 'api' }, clock: new StillClock() });
const db = await superuser(house.databaseUrl);
const { figures } = house.service.app;

const iso = (ms: number) => new Date(ms).toISOString();
const now = () => house.clock.now();
const ask = (path: string): Promise<Loose> => house.operator('GET', path);
const span = (since: number, until: number) => `since=${iso(since)}&until=${iso(until)}`;
/** The time that nobody else of these tests has counted in. */
function nextHour(): number {
  house.clock.advance(HOUR - (now() % HOUR));
  return now();
}

async function newWebhook(partner: Partner): Promise<{ id: string; no: number }> {
  const { id } = await partner.call('POST', '/v1/webhooks', { url: HOOK });
  const { rows } = await db.query('SELECT no FROM webhooks WHERE id = $1', [id]);
  return { id, no: rows[0].no };
}

describe('GET /operator/v1/figures', () => {
  it('200: calls by outcome, as they were answered, minute by minute', async () => {
    const partner = await newPartner(house);
    const start = nextHour();
    await partner.call('GET', '/v1/webhooks');
    await partner.send('GET', '/v1/webhooks/none');
    house.clock.advance(2 * MINUTE);
    await partner.call('GET', '/v1/webhooks');
    const answer = await ask(`/figures?${span(start, start + 3 * MINUTE)}&step=1m`);
    expect([answer.since, answer.until, answer.step]).toEqual([iso(start), iso(start + 3 * MINUTE), '1m']);
    expect(answer.data.map(({ at, calls }: Loose) => [at, calls])).toEqual([
      [iso(start), { ok: 1, refused: 1, rate_limited: 0, failed: 0 }],
      [iso(start + MINUTE), { ok: 0, refused: 0, rate_limited: 0, failed: 0 }],
      [iso(start + 2 * MINUTE), { ok: 1, refused: 0, rate_limited: 0, failed: 0 }],
    ]);
  });

  it('200: deliveries by outcome with their delays, of all, of a partner and of a webhook, on every grain', async () => {
    const one = await newPartner(house);
    const other = await newPartner(house);
    const [a, b, c] = [await newWebhook(one), await newWebhook(one), await newWebhook(other)];
    const start = nextHour();
    for (let n = 0; n < 19; n++) figures.deliver(a.no, 'delivered', 80, '2xx');
    figures.deliver(a.no, 'delivered', 4_000, '2xx');
    figures.deliver(b.no, 'retried', 0, 'tls');
    figures.deliver(c.no, 'given_up', 0, '5xx');
    house.clock.advance(30 * MINUTE);
    figures.deliver(a.no, 'delivered', 80, '2xx');
    const point = async (query: string): Promise<Loose> =>
      (await ask(`/figures?${span(start, start + HOUR)}&${query}`)).data;
    const [all] = await point('step=1h');
    expect(all.deliveries).toEqual({ delivered: 21, retried: 1, given_up: 1 });
    expect(all.delay_ms).toEqual({ p50: 100, p95: 100 });
    const [ofOne] = await point(`step=1h&partner_id=${one.partnerId}`);
    expect(ofOne.deliveries).toEqual({ delivered: 21, retried: 1, given_up: 0 });
    expect(ofOne.oldest_undelivered_seconds).toBeNull();
    const fine = await point(`step=5m&webhook_id=${a.id}`);
    expect(fine).toHaveLength(12);
    expect(fine.map(({ deliveries }: Loose) => deliveries.delivered)).toEqual([
      20, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0,
    ]);
    expect(fine[0].delay_ms).toEqual({ p50: 100, p95: 100 });
    expect(fine[1].delay_ms).toEqual({ p50: null, p95: null });
    const foreign = await point(`step=1h&webhook_id=${c.id}&partner_id=${one.partnerId}`);
    expect(foreign[0].deliveries).toEqual({ delivered: 0, retried: 0, given_up: 0 });
  });

  it('200: two nodes add to the same minute', async () => {
    const partner = await newPartner(house);
    const second = new Figures(
      house.service.app.db,
      house.clock,
      createLogger(() => {}),
    );
    const start = nextHour();
    for (const node of [figures, second, second]) node.call(partner.partnerId, 'ok');
    await Promise.all([figures.flush(), second.flush()]);
    second.call(partner.partnerId, 'failed');
    await second.close();
    const { data } = await ask(`/figures?${span(start, start + MINUTE)}&partner_id=${partner.partnerId}`);
    expect(data[0].calls).toEqual({ ok: 3, refused: 0, rate_limited: 0, failed: 1 });
  });

  it('200: how long the oldest undelivered one had waited, at the worst moment', async () => {
    const partner = await newPartner(house);
    await newWebhook(partner);
    const start = nextHour();
    const points = async (): Promise<Loose[]> =>
      (await ask(`/figures?${span(start, start + HOUR)}&step=1h`)).data;
    await db.query("DELETE FROM deliveries; UPDATE alert_head SET looked_at = '1970-01-01'");
    await house.service.alerts.look();
    expect((await points())[0]?.oldest_undelivered_seconds).toBe(0);
    await publish(house, partner.groupId, 'appointment.confirmed');
    await fanOutAll(house);
    house.clock.advance(10 * MINUTE);
    await house.service.alerts.look();
    expect((await points())[0]?.oldest_undelivered_seconds).toBe(600);
    await db.query('DELETE FROM deliveries');
    house.clock.advance(MINUTE);
    await house.service.alerts.look();
    expect((await points())[0]?.oldest_undelivered_seconds).toBe(600);
    expect(await transact(house.service.app.db, SYSTEM, readOldestUndelivered)).toBeNull();
  });

  it('the step is the shortest that makes no more than 200 points, and never finer than what is kept', async () => {
    const at = now();
    const step = async (query: string) => (await ask(`/figures?${query}`)).step;
    expect(await step('')).toBe('1m');
    expect(await step(span(at - DAY, at))).toBe('15m');
    expect(await step(span(at - 30 * DAY, at))).toBe('6h');
    const { partnerId } = await newPartner(house);
    expect(await step(`step=1m&partner_id=${partnerId}`)).toBe('5m');
    expect(await step(`step=5m&partner_id=${partnerId}&${span(at - 8 * DAY, at - 8 * DAY + HOUR)}`)).toBe(
      '1h',
    );
  });

  it('400: an end before the beginning, too many points, and moments that are none', async () => {
    const at = now();
    const get = (query: string) =>
      house.send('GET', `/operator/v1/figures?${query}`, { token: OPERATOR_TOKEN });
    expectInvalid(await get(span(at, at)), [{ path: ['since'] }]);
    expectInvalid(await get(`${span(at - 2 * DAY, at)}&step=1m`), [{ path: ['step'] }]);
    expectInvalid(await get('since=0001-01-01T00:00:00Z'), [{ path: ['since'] }]);
    expectInvalid(await get('since=yesterday&step=2m'), [{ path: ['since'] }, { path: ['step'] }]);
    expect((await get('since=0000-01-01T00:00:00Z&until=0000-01-01T00:05:00Z&step=5m')).status).toBe(200);
    const early = await get('until=0000-01-01T00:05:00Z');
    expect([early.status, early.body.since]).toEqual([200, '0000-01-01T00:00:00.000Z']);
    expectInvalid(await get('since=0000-01-01T00:00:00%2B01:00&until=0000-01-01T00:05:00Z'), [
      { path: ['since'] },
    ]);
    expectInvalid(await get('since=9999-12-31T23:50:00Z&until=9999-12-31T23:59:00Z'), [{ path: ['until'] }]);
    expectInvalid(await get('until=9999-12-31T23:59:00-10:00'), [{ path: ['until'] }]);
  });

  it('403: a source', async () => {
    const { token } = await house.operator('POST', '/operators', { name: 'Source', role: 'source' });
    expectProblem(
      await house.send('GET', '/operator/v1/figures', { token }),
      403,
      'insufficient_permissions',
      {
        required_roles: ['admin', 'support', 'viewer'],
      },
    );
  });
});

describe('GET /operator/v1/webhooks/{id}/health', () => {
  it('200: attempts by outcome and cause', async () => {
    const partner = await newPartner(house);
    const { id, no } = await newWebhook(partner);
    const start = nextHour();
    figures.deliver(no, 'delivered', 10, '2xx');
    figures.deliver(no, 'retried', 0, '5xx');
    figures.deliver(no, 'retried', 0, '5xx');
    figures.deliver(no, 'given_up', 0, 'dns');
    const { data } = await ask(`/webhooks/${id}/health?${span(start, start + 10 * MINUTE)}`);
    expect(data).toEqual([
      {
        at: iso(start),
        delivered: 1,
        retried: 2,
        given_up: 1,
        causes: [
          { cause: '5xx', count: 2 },
          { cause: 'dns', count: 1 },
        ],
      },
      { at: iso(start + 5 * MINUTE), delivered: 0, retried: 0, given_up: 0, causes: [] },
    ]);
  });

  it('404: a webhook that is not there', async () => {
    const answer = await house.send('GET', '/operator/v1/webhooks/none/health', { token: OPERATOR_TOKEN });
    expectProblem(answer, 404, 'not_found');
  });
});

describe('what is counted', () => {
  it('waits while the database is away, and is written as of its minute once it is back', async () => {
    const { partnerId } = await newPartner(house);
    const proxy = await startDatabaseProxy(house.databaseUrl);
    const through = openDatabase({ url: proxy.url, connectionsMax: 1 });
    onTestFinished(() => closeDatabase(through));
    const own = new Figures(
      through,
      house.clock,
      createLogger(() => {}),
    );
    const start = nextHour();
    proxy.cut('broken');
    own.call(partnerId, 'ok');
    await own.flush();
    house.clock.advance(5 * MINUTE);
    own.call(partnerId, 'ok');
    own.call(partnerId, 'ok');
    await own.flush();
    proxy.mend();
    await own.close();
    const { data } = await ask(`/figures?${span(start, start + 10 * MINUTE)}&partner_id=${partnerId}`);
    expect(data.map(({ calls }: Loose) => calls.ok)).toEqual([1, 2]);
  });

  it('is not lost when it comes while its minute is being written', async () => {
    const { partnerId } = await newPartner(house);
    const own = new Figures(
      house.service.app.db,
      house.clock,
      createLogger(() => {}),
    );
    const start = nextHour();
    own.call(partnerId, 'ok');
    const writing = own.flush();
    await Promise.resolve();
    own.call(partnerId, 'ok');
    house.clock.advance(MINUTE);
    own.call(partnerId, 'ok');
    await writing;
    await own.close();
    const { data } = await ask(`/figures?${span(start, start + HOUR)}&partner_id=${partnerId}&step=1h`);
    expect(data[0].calls.ok).toBe(3);
  });

  it('is kept for a week by five minutes, and for 35 days by the hour', async () => {
    const { partnerId } = await newPartner(house);
    const start = nextHour();
    figures.call(partnerId, 'ok');
    await figures.flush();
    const kept = async () => {
      while ((await clearSome(house.service.app.db, 'clear_figures', iso(now()), RETENTION)) > 0);
      const { rows } = await db.query(
        `SELECT grain FROM figures WHERE partner_id = $1 OR (partner_id = '' AND at >= $2 AND at < $3 AND kind = 'call') ORDER BY 1`,
        [partnerId, iso(start), iso(start + HOUR)],
      );
      return rows.map(({ grain }) => grain);
    };
    expect(await kept()).toEqual([1, 5, 60, 60]);
    house.clock.advance(7 * DAY + HOUR);
    expect(await kept()).toEqual([1, 60, 60]);
    house.clock.advance(29 * DAY);
    expect(await kept()).toEqual([]);
  });
});
