import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { formatKey } from '../../../src/domain/access/api-key.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { RateLimits } from '../../../src/runtime/access/rate-limits.ts';
import { Strangers } from '../../../src/runtime/access/strangers.ts';
import { expectProblem } from '../../support/answers.ts';
import { HastyClock, ManualClock } from '../../support/manual-clock.ts';
import { freePort, startPorter } from '../../support/porter-process.ts';
import { createUpToDateDatabase, type Harness, makeWorld, startHarness } from '../../support/service.ts';
import { head, openWire } from '../../support/wire.ts';

const EVENTS = '/operator/v1/events';
const MIB = 1024 * 1024;
const json = { 'content-type': 'application/json' };

/** Well formed, each another one, and nobody's. */
let guesses = 0;
const guess = () => formatKey('staging', String(++guesses).padStart(32, 'x'));

/** How often the database was asked who holds a key or a token. */
function countLookups(house: Harness): () => number {
  const { pool } = house.service.app.db;
  const original = pool.connect.bind(pool);
  let asked = 0;
  pool.connect = (async () => {
    asked++;
    return original();
  }) as typeof pool.connect;
  return () => asked;
}

async function useUp(house: Harness): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: 300 }, () => house.send('GET', '/v1/practice-groups')),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
}

describe('the body of a stranger', () => {
  it('is counted: 401 up to the limit of the operation, 413 above it, and the connection survives both', async () => {
    const house = await startHarness();
    const { key, groupId } = await makeWorld(house);
    const chunked = (bytes: number) => `${bytes.toString(16)}\r\n${' '.repeat(bytes)}\r\n0\r\n\r\n`;
    const line = await openWire(house.url);
    for (const [more, status] of [
      [{}, [401, 413]],
      [{ authorization: 'Bearer nonsense' }, [401, 413]],
    ] as const) {
      const start = head('POST', EVENTS, { ...json, ...more, 'transfer-encoding': 'chunked' });
      line.write(start + chunked(2 * MIB));
      expect((await line.answer()).status).toBe(status[0]);
      line.write(start + chunked(2 * MIB + 1));
      expect((await line.answer()).status).toBe(status[1]);
    }
    line.write(head('PATCH', '/v1/nothing', { 'transfer-encoding': 'chunked' }) + chunked(64 * 1024));
    expect((await line.answer()).status).toBe(401);
    line.write(head('GET', '/v1/practice-groups', { 'x-api-key': key, 'x-practice-group-id': groupId }));
    expect((await line.answer()).status).toBe(200);
    line.close();
  });

  it('is not kept: 100 of 2 MiB that do not end take hardly any memory', async () => {
    const porter = await startPorter(await freePort(), { DATABASE_URL: await createUpToDateDatabase() });
    const residentMib = async () => {
      const text = await (await fetch(`${porter.url}/metrics`)).text();
      return Number(/^porter_process_resident_bytes (\d+)/m.exec(text)?.[1]) / MIB;
    };
    await residentMib();
    const before = await residentMib();
    const almost = Buffer.alloc(2 * MIB - 1, ' ');
    const begin = head('POST', EVENTS, { ...json, 'content-length': String(2 * MIB) });
    await Promise.all(
      Array.from({ length: 100 }, async () => {
        const socket = connect(Number(new URL(porter.url).port), '127.0.0.1');
        onTestFinished(() => void socket.destroy());
        socket.on('error', () => {});
        await new Promise((taken) => {
          socket.write(begin);
          socket.write(almost, taken);
        });
      }),
    );
    // Kept, they would be 200 MiB.
    expect((await residentMib()) - before).toBeLessThan(100);
  });

  it('that is left in the middle ends the call, whoever was asked about it meanwhile', async () => {
    const house = await startHarness();
    const socket = connect(Number(new URL(house.url).port), '127.0.0.1');
    const headers = { 'x-api-key': guess(), 'x-request-id': 'left', 'content-length': '50' };
    socket.write(`${head('PATCH', '/v1/care-nav/submission-types/a', headers)}{`, () => socket.destroy());
    await expect
      .poll(house.logLines)
      .toContainEqual(expect.objectContaining({ request_id: 'left', status: 400 }));
  });
});

describe('strangers past their limit', () => {
  it('cost no query each: those of one turn are looked up together', async () => {
    let turns = 0;
    class CountingClock extends HastyClock {
      override timer(milliseconds: number, fire: () => void): () => void {
        // The turn of the lookups; every other timer is longer or shorter.
        if (milliseconds === 100) turns++;
        return super.timer(milliseconds, fire);
      }
    }
    const house = await startHarness({ clock: new CountingClock(), env: { PORTER_ROLE: 'api' } });
    await useUp(house);
    const lookups = countLookups(house);
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, n) =>
        n % 2 === 0
          ? house.send('GET', '/v1/practice-groups', { key: guess() })
          : house.send('GET', '/operator/v1/partners', { token: `pto_${n}` }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    // One statement for keys and one for tokens.
    expect(lookups()).toBeLessThanOrEqual(2 * turns);
    expect(turns).toBeLessThan(200);
  });

  it('cost no log line each: they are told together', async () => {
    const clock = new HastyClock();
    const house = await startHarness({ clock });
    await useUp(house);
    const lines = () => house.logLines().filter(({ msg }) => msg === 'request').length;
    const before = lines();
    await Promise.all(Array.from({ length: 200 }, () => house.send('GET', '/v1/practice-groups')));
    await Promise.all(Array.from({ length: 50 }, () => house.send('GET', '/nowhere')));
    for (let n = 0; n < 20; n++) {
      const line = await openWire(house.url);
      line.write('NOISE\r\n\r\n');
      expect((await line.answer()).status).toBe(400);
    }
    expect(lines()).toBe(before);
    expect(house.logLines().filter(({ msg }) => msg === 'not HTTP')).toEqual([]);
    clock.fireLong();
    expect(house.logLines().filter(({ msg }) => msg === 'strangers past their limit')).toMatchObject([
      { level: 'warn', refusals: 270, addresses: 1, most: '127.0.0.1', most_refusals: 270 },
    ]);
  });

  it('get one answer a second on each connection, and none for what they send ahead of it', async () => {
    const house = await startHarness();
    await useUp(house);
    const request = head('GET', '/v1/practice-groups');
    const patient = await openWire(house.url);
    const started = performance.now();
    patient.write(request);
    expect((await patient.answer()).status).toBe(429);
    // A timer may fire a little early.
    expect(performance.now() - started).toBeGreaterThan(950);
    patient.write(request + request);
    await patient.closed;
  });

  it('do not delay who has a key', async () => {
    const house = await startHarness();
    const { key, groupId: group } = await makeWorld(house);
    await useUp(house);
    let answered = 0;
    const held = Array.from({ length: 40 }, async () => {
      expectProblem(await house.send('GET', '/v1/practice-groups'), 429, 'rate_limit_exceeded', {
        retry_after: expect.any(Number),
      });
      answered++;
    });
    expect((await house.send('GET', '/v1/practice-groups', { key, group })).status).toBe(200);
    expect(answered).toBe(0);
    await Promise.all(held);
  });
});

describe('the bodies of strangers', () => {
  it('are read at a pace for all of them together, each in its turn', async () => {
    const strangers = new Strangers(
      new ManualClock(),
      createLogger(() => {}),
    );
    const PIECE = 64 * 1024;
    const order: number[] = [];
    const goOn = (n: number) => () => void order.push(n);
    const began = performance.now();
    const refused = Array.from({ length: 48 }, (_, n) => n).filter((n) => !strangers.pace(PIECE, goOn(n)));
    // A mebibyte at once; then as much with every beat.
    expect(refused).toEqual(Array.from({ length: 32 }, (_, n) => 16 + n));
    await expect.poll(() => order, { interval: 1 }).toEqual(refused);
    expect(performance.now() - began).toBeGreaterThan(40);
    await expect.poll(() => strangers.pace(1, () => {}), { interval: 10 }).toBe(true);
  });
});

describe('the addresses that are kept in mind', () => {
  it('are so many at most: those seen longest ago are forgotten', () => {
    const windows = new RateLimits(new ManualClock(), 100);
    for (let n = 0; n < 1_000; n++) {
      windows.take('often', 2_000);
      windows.take(`address ${n}`, 1);
    }
    expect(windows.size).toBe(100);
    expect(windows.take('address 950', 1).allowed).toBe(false);
    expect(windows.take('address 10', 1).allowed).toBe(true);
    expect(windows.take('often', 2_000).remaining).toBe(999);
    expect(windows.isFull('address 999', 1)).toBe(true);
    expect(windows.isFull('address 999', 2)).toBe(false);
    expect(windows.isFull('nobody', 1)).toBe(false);
  });
});
