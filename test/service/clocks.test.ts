import { describe, expect, it, vi } from 'vitest';
import { answered, openPostOffice } from '../support/post-office.ts';

/** Clocks of machines are set, forward and back, and those of two machines differ. */

const DAY = 24 * 3_600_000;

describe('a clock that is set back by a day', () => {
  it('does not make the rest of a host longer', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    const failure = { phase: 'connect', code: 'connect_refused', detail: 'refused' } as const;
    office.answerWith(() => ({ ...answered(0), status: undefined, failure }));
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      await office.publish({ id });
      await office.engine.drain();
    }
    expect(office.letters).toHaveLength(5);
    office.answerWith(() => 200);
    office.clock.set(new Date(office.clock.now() - DAY).toISOString());
    await office.publish({ id: 'f' });
    await office.engine.drain();
    expect(office.letters).toHaveLength(5);

    office.clock.advance(60_000);
    await office.engine.drain();
    expect(office.letters.map(({ payload }) => payload.id)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  });

  it('does not keep a worker from leasing its lanes anew', async () => {
    const office = await openPostOffice();
    await office.addWebhook();
    let answer = (_status: number) => {};
    office.answerWith(
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    await office.publish({ id: 'a' });
    office.engine.start();
    await vi.waitFor(() => expect(office.letters).toHaveLength(1));
    office.clock.set(new Date(office.clock.now() - DAY).toISOString());
    office.clock.advance(10_000);
    // Else nobody could take the lane over for a day, should the worker get stuck.
    await vi.waitFor(async () => {
      const [lane] = await office.rows<{ held_until: Date }>('SELECT held_until FROM webhook_lanes');
      expect(lane?.held_until.getTime()).toBe(office.clock.now() + 20_000);
    });
    answer(200);
  });
});
