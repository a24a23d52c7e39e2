import pg from 'pg';
import { describe, expect, it, vi } from 'vitest';
import { BACKLOG_EACH_MS } from '../../../src/domain/events/flow-control.ts';
import { answered, openDeliveryHarness } from '../../support/delivery-harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { newPartner, publish } from '../../support/post.ts';
import { ok, startReceiver } from '../../support/receiver.ts';
import { startHarness } from '../../support/service.ts';

/** A receiver that was down, and comes back. */

const TEN_SECONDS = 10_000;
const failure = { phase: 'connect', code: 'connection_refused', detail: '' } as const;
const refused = { ...answered(0), status: undefined, failure };

describe('a host that comes back after ten minutes', () => {
  it('gets what waits for it within ten seconds, and others are served in between', async () => {
    const office = await openDeliveryHarness();
    const back = 'https://back.example/hook';
    await office.addWebhook({ url: back });
    office.answerWith(({ url }) => (url === back ? refused : 200));
    await office.publish(...Array.from({ length: 400 }, (_, n) => ({ id: `a-${n}` })));
    for (let seconds = 0; seconds < 600; seconds += 2) {
      await office.engine.drain();
      office.clock.advance(2_000);
    }
    const down = office.sent.length;
    // Dialling uses up no attempts: most were never tried.
    expect(new Set(office.sent.map(({ sequence }) => sequence)).size).toBeLessThan(30);

    await office.addWebhook();
    await office.publish(...Array.from({ length: 400 }, (_, n) => ({ id: `b-${n}` })));
    office.answerWith(() => 200);
    office.dialWith(() => true);
    const from = office.clock.now();
    while (office.sent.slice(down).every(({ url }) => url !== back)) {
      office.clock.advance(500);
      await office.engine.drain();
    }
    expect(office.clock.now() - from).toBeLessThanOrEqual(TEN_SECONDS);
    // All that was never tried follows at the pace of a backlog, 10 in 20 ms; the others keep their own times.
    const tried = new Set(office.sent.slice(0, down).map(({ sequence }) => sequence));
    const arrived = () => {
      const all = office.sent.slice(down).flatMap(({ url, sequence }) => (url === back ? sequence : []));
      return [...new Set(all)].filter((sequence) => !tried.has(sequence)).length;
    };
    const waiting = 800 - tried.size - arrived();
    const began = office.clock.now();
    for (let before = arrived(); before < 800 - tried.size; before = arrived()) {
      office.clock.advance(10 * BACKLOG_EACH_MS);
      await expect.poll(() => office.engine.drain().then(arrived)).toBeGreaterThan(before);
      expect(arrived() - before).toBeLessThanOrEqual(10);
    }
    // It keeps that pace: a lane with nothing under way between two parts is not taken for one that nothing is known of.
    expect(office.clock.now() - began).toBeLessThan(1.2 * waiting * BACKLOG_EACH_MS);
  });

  it('paces the backlogs of all its webhooks together', async () => {
    const office = await openDeliveryHarness();
    const hooks = Array.from({ length: 12 }, (_, n) => `https://back.example/hook-${n}`);
    for (const url of hooks) await office.addWebhook({ url });
    office.answerWith(() => refused);
    await office.publish(...Array.from({ length: 40 }, (_, n) => ({ id: `a-${n}` })));
    await office.engine.drain();
    office.clock.advance(60_000);
    await office.engine.drain();
    const down = office.sent.length;
    const tried = new Set(office.sent.map(({ url, sequence }) => `${url} ${sequence}`));
    const arrived = () =>
      office.sent.slice(down).filter(({ url, sequence }) => !tried.has(`${url} ${sequence}`));
    const all = 40 * hooks.length - tried.size;

    office.answerWith(() => 200);
    office.dialWith(() => true);
    await expect
      .poll(async () => {
        office.clock.advance(500);
        await office.engine.drain();
        return arrived().length;
      })
      .toBeGreaterThan(0);
    const [first, began] = [arrived().length, office.clock.now()];
    const claims = vi.spyOn(pg.Client.prototype, 'query');
    while (arrived().length < all) {
      office.clock.advance(10);
      await office.engine.drain();
      // Of each webhook, one part may have been due when this began.
      const paced = (office.clock.now() - began) / BACKLOG_EACH_MS;
      expect(arrived().length - first).toBeLessThanOrEqual(paced + 10 * hooks.length);
    }
    // They are claimed in their turns alone. All of them at every turn of one would be more than one lane for each delivery.
    let claimed = 0;
    for (const [n, [asked]] of claims.mock.calls.entries()) {
      if (!JSON.stringify(asked).includes('claim_deliveries')) continue;
      const answer = (await claims.mock.results[n]?.value) as { rows: unknown[] } | undefined;
      claimed += answer?.rows.length ?? 0;
    }
    claims.mockRestore();
    expect(claimed).toBeGreaterThan(0);
    expect(claimed).toBeLessThan(all / 2);
    for (const hook of hooks) {
      const sequences = arrived().flatMap(({ url, sequence }) => (url === hook ? sequence : []));
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    }
  });

  it('waits no longer for those who have little than that takes', async () => {
    const office = await openDeliveryHarness();
    for (let n = 0; n < 40; n++) await office.addWebhook({ url: `https://back.example/hook-${n}` });
    office.answerWith(() => refused);
    await office.publish({ id: 'a' });
    await office.engine.drain();
    await office.publish({ id: 'b' });
    office.answerWith(() => 200);
    office.dialWith(() => true);
    const arrived = () => office.sent.filter(({ sequence }) => sequence === 2).length;
    await expect
      .poll(async () => {
        office.clock.advance(100);
        await office.engine.drain();
        return arrived();
      })
      .toBeGreaterThan(0);
    // With a whole part for each it would be 800 ms.
    const began = office.clock.now();
    while (arrived() < 40) {
      office.clock.advance(1);
      await office.engine.drain();
    }
    expect(office.clock.now() - began).toBeLessThan(200);
  });

  it('has its webhooks passed over by their numbers alone while they wait for their turns, and gets what is new after its backlog', async () => {
    const office = await openDeliveryHarness();
    const hooks = Array.from({ length: 30 }, (_, n) => `https://back.example/hook-${n}`);
    for (const url of hooks) await office.addWebhook({ url });
    await office.addWebhook({ group: 'other-group', url: 'https://other.example/hook' });
    office.answerWith(({ url }) => (hooks.includes(url) ? refused : 200));
    await office.publish(...Array.from({ length: 20 }, (_, n) => ({ id: `a-${n}` })));
    await office.engine.drain();
    office.clock.advance(60_000);
    await office.engine.drain();
    const down = office.sent.length;
    office.answerWith(() => 200);
    office.dialWith(() => true);
    await expect
      .poll(async () => {
        office.clock.advance(500);
        await office.engine.drain();
        return office.sent.length;
      })
      .toBeGreaterThan(down + 1);

    const query = vi.spyOn(pg.Client.prototype, 'query');
    await office.accept([{ id: 'new', practice_group_id: 'other-group' }]);
    expect(office.sent.at(-1)?.url).toBe('https://other.example/hook');
    await office.engine.drain();
    const statements = query.mock.calls.map(
      ([call]) => call as unknown as { text: string; values: unknown[] },
    );
    query.mockRestore();
    /** How many numbers the first call of the function had in a list. */
    const named = (name: string, argument: string) => {
      const { text = '', values = [] } = statements.find(({ text }) => text?.includes(name)) ?? {};
      const place = Number(new RegExp(`"${argument}" => \\$(\\d+)`).exec(text)?.[1]);
      return String(values[place - 1]).match(/\d+/g)?.length ?? 0;
    };
    expect(named('accept_and_hand_over', 'known_nos')).toBeLessThanOrEqual(5);
    expect(named('claim_deliveries_3', 'known_nos')).toBeLessThanOrEqual(5);
    expect(named('claim_deliveries_3', 'passed_over')).toBeGreaterThanOrEqual(hooks.length - 5);

    // One, several at once, and one about an object of the backlog.
    await office.accept([{ id: 'b-0' }]);
    await office.accept([{ id: 'b-1' }, { id: 'a-19' }]);
    while (office.sent.filter(({ payload }) => payload.id.startsWith('b-')).length < 2 * hooks.length) {
      office.clock.advance(10);
      await office.engine.drain();
    }
    while (await office.toNextDue()) await office.engine.drain();
    for (const hook of hooks) {
      const got = office.sent.slice(down).filter(({ url }) => url === hook);
      expect(new Set(got.map(({ sequence }) => sequence)).size).toBe(got.length);
      const ids = got.map(({ payload }) => payload.id);
      expect(ids.filter((id) => id === 'a-19')).toHaveLength(2);
      expect(ids.indexOf('b-0')).toBeGreaterThan(ids.indexOf('a-10'));
      expect(ids.indexOf('b-1')).toBeGreaterThan(ids.indexOf('b-0'));
    }
  });

  it('is not waited for by others: the deliveries of another webhook go between those of its backlog', async () => {
    const office = await openDeliveryHarness();
    const back = 'https://back.example/hook';
    await office.addWebhook({ url: back });
    await office.publish(...Array.from({ length: 1_000 }, (_, n) => ({ id: `a-${n}` })));
    await office.addWebhook({ group: 'other-group' });
    await office.publish(
      ...Array.from({ length: 20 }, (_, n) => ({ id: `b-${n}`, practice_group_id: 'other-group' })),
    );
    await office.engine.drain();
    const last = office.sent.findLastIndex(({ url }) => url !== back);
    expect(last).toBeLessThan(200);
  });
});

it('a real receiver that was down for minutes hears within ten seconds of being there again', async () => {
  const clock = new ManualClock();
  const house = await startHarness({ clock });
  const partner = await newPartner(house);
  const receiver = await startReceiver({ behaviour: 'refuse' });
  await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  await publish(
    house,
    partner.groupId,
    ...Array.from({ length: 100 }, () => 'appointment.confirmed' as const),
  );
  const attempts = async () => {
    const { text } = await house.send('GET', '/metrics');
    return Number(/^porter_delivery_attempts_total\{outcome="connect"\} (\d+)/m.exec(text)?.[1] ?? 0);
  };
  // Its rests have grown to a minute.
  await expect
    .poll(async () => {
      clock.advance(5_000);
      return attempts();
    })
    .toBeGreaterThan(12);
  await receiver.setBehaviour(ok);
  clock.advance(TEN_SECONDS);
  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
});
