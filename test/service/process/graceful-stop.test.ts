import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { contents } from '../../support/for-test.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { type Harness, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

/** Time stands still for whoever sleeps, until the test says that it has passed. */
class HeldClock extends ManualClock {
  readonly asked: number[] = [];
  #held: (() => void)[] = [];
  #holds = false;

  hold(): void {
    this.#holds = true;
  }

  release(): void {
    for (const wake of this.#held.splice(0)) wake();
  }

  override async sleep(milliseconds: number): Promise<void> {
    if (!this.#holds) return super.sleep(milliseconds);
    this.asked.push(milliseconds);
    await new Promise<void>((resolve) => this.#held.push(resolve));
  }
}

async function startHeld(): Promise<{ house: Harness; clock: HeldClock }> {
  const clock = new HeldClock();
  const house = await startHarness({ clock });
  return { house, clock };
}

async function poll(what: string, condition: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Locks a row, so that whoever wants to change it waits; `waiters` tells how many do. */
async function lockRow(databaseUrl: string, sql: string) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query('BEGIN');
  await client.query(sql);
  const waiters = async () => {
    // Within a transaction the view would go on showing what it showed first.
    await client.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await client.query(
      `SELECT count(*)::int FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    );
    return rows[0].count as number;
  };
  return { waiters, unlock: () => client.query('COMMIT') };
}

async function openConnection(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket;
}

const isRefused = (url: string) =>
  new Promise<boolean>((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });

describe('stopping', () => {
  it('says that it is not ready, to whoever asked before', async () => {
    const { house, clock } = await startHeld();
    clock.hold();
    const socket = await openConnection(house.url);
    socket.write('GET /readyz HTTP/1.1\r\nhost: a\r\nx-begun: ');
    const { server } = house.service;
    const count = () => new Promise<number>((resolve) => server.getConnections((_, n) => resolve(n)));
    await poll('the connection is there', async () => (await count()) === 1);
    const stop = house.service.stop();
    await poll('new connections are refused', () => isRefused(house.url));
    socket.write('yes\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 503 /);
    await stop;
  });

  it('answers what is under way, takes nothing new, and loses no acknowledged change', async () => {
    const { house, clock } = await startHeld();
    const { groupId: group, key } = await makeWorld(house);
    const { id } = await house.operator('POST', '/partners', { name: 'P', contact_email: 'a@b.example' });
    const partner = await lockRow(house.databaseUrl, `SELECT FROM partners WHERE id = '${id}' FOR UPDATE`);
    const type = await lockRow(house.databaseUrl, 'SELECT FROM submission_types FOR UPDATE');
    clock.hold();

    const underWay = [
      house.send('POST', `/operator/v1/partners/${id}/sign-agreement`, { token: OPERATOR_TOKEN }),
      house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body: { title: 'Kept' } }),
    ];
    await poll('both requests wait for a lock', async () => (await partner.waiters()) === 2);
    let stopped = false;
    const stop = house.service.stop().then(() => {
      stopped = true;
    });
    await poll('new connections are refused', () => isRefused(house.url));
    expect(stopped).toBe(false);

    await partner.unlock();
    await type.unlock();
    const answers = await Promise.all(underWay);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.map(({ headers }) => headers.connection)).toEqual(['close', 'close']);
    // Everything has finished in time: nobody had to wait for the clock.
    await stop;
    const db = await contents(house.databaseUrl);
    expect(db.submission_types?.join()).toContain('Kept');
    expect(db.partners?.join()).toContain('agreement_signed');
  });

  it('closes connections that nobody uses at once', async () => {
    const { house, clock } = await startHeld();
    const socket = await openConnection(house.url);
    socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n');
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
    clock.hold();
    const closed = once(socket, 'close');
    await house.service.stop();
    await closed;
  });

  it('gives what hangs a bounded time, then cuts it off', async () => {
    const { house, clock } = await startHeld();
    const { id } = await house.operator('POST', '/partners', { name: 'P', contact_email: 'a@b.example' });
    const row = await lockRow(house.databaseUrl, `SELECT FROM partners WHERE id = '${id}' FOR UPDATE`);
    const silent = await openConnection(house.url);
    clock.hold();
    const hanging = house
      .send('POST', `/operator/v1/partners/${id}/sign-agreement`, { token: OPERATOR_TOKEN })
      .then(
        () => 'answered',
        () => 'cut off',
      );
    await poll('the request waits for the lock', async () => (await row.waiters()) === 1);
    const closed = once(silent, 'close');
    const stop = house.service.stop();
    await poll('the stop has set its bound', () => clock.asked.length === 1);
    clock.release();
    expect(await hanging).toBe('cut off');
    await closed;
    // The transaction is still waiting in PostgreSQL: closing the database is bounded as well.
    await poll('the stop has set its second bound', () => clock.asked.length === 2);
    clock.release();
    await stop;
    expect(clock.asked.reduce((sum, ms) => sum + ms)).toBeLessThanOrEqual(10_000);
    await row.unlock();
  });

  it('waits no longer for a worker whose database stands still', async () => {
    const { house, clock } = await startHeld();
    const events = await lockRow(house.databaseUrl, 'LOCK TABLE new_events');
    await poll('the worker waits for the lock', async () => (await events.waiters()) > 0);
    clock.hold();
    const stop = house.service.stop();
    await poll('the stop has set its bound', () => clock.asked.length === 1);
    clock.release();
    // The worker is still waiting: it is left, and closing the database is bounded as well.
    await poll('the stop has set its second bound', () => clock.asked.length === 2);
    expect(await events.waiters()).toBeGreaterThan(0);
    clock.release();
    await stop;
    await events.unlock();
  });

  it('twice is once', async () => {
    const { house } = await startHeld();
    const { service } = house;
    expect(service.stop()).toBe(service.stop());
    await service.stop();
  });
});
