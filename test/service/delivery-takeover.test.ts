import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { openPostOffice } from '../support/post-office.ts';

/** What a lane keeps in memory and what the database knows of it may come apart. Each of these did, once. */

it('a worker that lost its lane without noticing does not send a later letter before an earlier one', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  let answerFirst = (_status: number) => {};
  office.answerWith(({ sequence }) =>
    sequence === 1
      ? new Promise((resolve) => {
          answerFirst = resolve;
        })
      : 200,
  );
  office.engine.start();
  await office.publish({ id: 'a' });
  await until(() => office.letters.length === 1);
  // As another worker does that sees no sign of life.
  await office.rows('UPDATE webhook_lanes SET holder = NULL, held_until = NULL');
  // Put back to wait for the first, which nobody writes down for one that does not hold the lane.
  await office.publish({ id: 'a' });
  await pause(800);
  answerFirst(200);
  await office.publish({ id: 'a' });
  await until(() => new Set(office.letters.map(({ sequence }) => sequence)).size === 3);
  expect([...new Set(office.letters.map(({ sequence }) => sequence))]).toEqual([1, 2, 3]);
});

it('letters that wait for each other after a replay and a takeover are woken', async () => {
  const office = await openPostOffice();
  const no = await office.addWebhook();
  await office.publish({ id: 'a' });
  await office.engine.drain();
  const doomed = await office.workerThat(() => new Promise(() => {}));
  office.clock.advance(20_000);
  await office.publish({ id: 'a' }, { id: 'a' });
  void doomed.engine.drain();
  while ((await office.rows("SELECT FROM deliveries WHERE state = 'waiting'")).length < 1) await pause(20);
  // The first waits behind the third, the third for the second, and whoever takes over finds the second behind the first.
  const [event] = await office.rows<{ no: number }>('SELECT min(no) AS no FROM events');
  await office.rows('SELECT replay_deliveries($1, $2, ARRAY[$3::bigint])', [
    new Date(office.clock.now()).toISOString(),
    no,
    event?.no,
  ]);
  await doomed.die();
  await office.engine.drain();
  expect(await office.rows('SELECT DISTINCT state FROM deliveries')).toEqual([{ state: 'delivered' }]);
});

it('of letters that were put back together, the next is not sent while the first of them is set aside', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  office.answerWith(({ sequence }) => (sequence === 2 ? 500 : 200));
  await office.publish({ id: 'a' }, { id: 'a' }, { id: 'a' });
  await office.engine.drain();
  expect(office.letters.map(({ sequence }) => sequence)).toEqual([1, 2]);
  expect(await office.rows('SELECT state, tries FROM deliveries ORDER BY sequence')).toEqual([
    { state: 'delivered', tries: 1 },
    { state: 'due', tries: 1 },
    { state: 'waiting', tries: 0 },
  ]);
});

it('a webhook that is changed while letters to it are under way still gets them in order', async () => {
  const office = await openPostOffice();
  const no = await office.addWebhook();
  office.answerWith(async () => {
    await pause(2);
    return 200;
  });
  office.engine.start();
  for (let round = 0; round < 60; round++) {
    await office.publish(...Array.from({ length: 12 }, (_, n) => ({ id: `object-${n}` })));
    await office.rows('UPDATE webhooks SET version = version + 1 WHERE no = $1', [no]);
  }
  await until(() => new Set(office.letters.map(({ sequence }) => sequence)).size === 720);
  for (let n = 0; n < 12; n++) {
    const arrivals = new Set(
      office.letters.flatMap(({ payload, sequence }) => (payload.id === `object-${n}` ? sequence : [])),
    );
    expect([...arrivals]).toEqual([...arrivals].toSorted((a, b) => a - b));
  }
});

it('hundreds of events about one object do not hold up one about another', async () => {
  const office = await openPostOffice();
  await office.addWebhook();
  let release = () => {};
  const hanging = new Promise<number>((resolve) => {
    release = () => resolve(200);
  });
  office.answerWith(({ payload }) => (payload.id === 'a' ? hanging : 200));
  office.engine.start();
  await office.publish(...Array.from({ length: 300 }, () => ({ id: 'a' })), { id: 'b' });
  const begun = Date.now();
  await until(() => office.letters.some(({ payload }) => payload.id === 'b'));
  expect(Date.now() - begun).toBeLessThan(8_000);
  release();
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(5);
}
