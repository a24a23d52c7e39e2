import fc from 'fast-check';
import { expect } from 'vitest';
import { type DeliveryHarness, openDeliveryHarness } from './delivery-harness.ts';
import { eventNos, on, replayStep } from './steps.ts';

/**
 * Random traffic against random receivers: what is published, how each attempt ends, when a worker dies and when time
 * passes are all drawn. Whatever happens, what arrives must obey the rules in `check`.
 */
export const ROUND = fc.record({
  webhooks: fc.integer({ min: 1, max: 3 }),
  steps: fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ publish: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 8 }) }),
      },
      {
        weight: 4,
        // By calls of one event each, to this node or the other: those of one object go to the same.
        arbitrary: fc.record({ accept: fc.array(fc.integer({ min: 0, max: 4 }), { maxLength: 4 }) }),
      },
      { weight: 3, arbitrary: fc.record({ drain: fc.constantFrom('ours', 'other') }) },
      { weight: 2, arbitrary: fc.record({ advance: fc.integer({ min: 1, max: 200_000 }) }) },
      { weight: 1, arbitrary: fc.record({ pause: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ replay: fc.integer({ min: 0, max: 20 }) }) },
    ),
    { minLength: 3, maxLength: 25 },
  ),
  /** How attempts end, one after the other. */
  endings: fc.infiniteStream(fc.constantFrom(200, 200, 200, 500, 503, 429, 301)),
});

type Round = typeof ROUND extends fc.Arbitrary<infer T> ? T : never;

export async function orderRound({ webhooks, steps, endings }: Round): Promise<void> {
  const harness = await openDeliveryHarness();
  try {
    const ends = () => endings.next().value ?? 200;
    harness.answerWith(ends);
    const other = await harness.workerThat(ends);
    const nos: number[] = [];
    for (let n = 0; n < webhooks; n++) nos.push(await harness.addWebhook());
    const accepted: { object: string; mark: string }[] = [];

    for (const step of steps) {
      const about = (object: number) => ({
        object: 'Appointment' as const,
        id: `object-${object}`,
        event: accepted.length % 2 ? ('appointment.confirmed' as const) : ('appointment.cancelled' as const),
      });
      const note = (events: readonly { id: string }[], ids: readonly string[]) =>
        ids.forEach((mark, index) => {
          accepted.push({ object: events[index]?.id ?? '', mark });
        });
      if ('publish' in step) {
        const events = step.publish.map(about);
        note(events, events.length > 0 ? await harness.publish(...events) : []);
      } else if ('accept' in step) {
        // Both nodes at once.
        const halves = [harness.engine, other.engine].map((engine, half) => ({
          engine,
          events: step.accept.filter((object) => object % 2 === half).map(about),
        }));
        await Promise.all(
          halves.map(async ({ engine, events }) => {
            if (events.length > 0) note(events, await harness.accept(events, engine));
          }),
        );
      } else if ('drain' in step) await (step.drain === 'ours' ? harness.engine : other.engine).drain();
      else if ('advance' in step) harness.clock.advance(step.advance);
      else if ('pause' in step)
        await harness.rows('UPDATE webhooks SET status = $1 WHERE no = $2', [
          step.pause ? 'paused' : 'active',
          nos[0],
        ]);
      else {
        const chosen = (await eventNos(harness.admin)).slice(0, step.replay);
        const at = new Date(harness.clock.now()).toISOString();
        await replayStep(nos[0] as number, chosen, at)(on(harness.admin));
      }
    }

    await harness.rows("UPDATE webhooks SET status = 'active'");
    harness.answerWith(() => 200);
    await other.die();
    do await harness.engine.drain();
    while (await harness.toNextDue());
    await check(harness, nos, accepted);
  } finally {
    await harness.close();
  }
}

async function check(
  harness: DeliveryHarness,
  nos: number[],
  accepted: { object: string; mark: string }[],
): Promise<void> {
  const rows = await harness.rows<{ webhook_no: number; sequence: string; state: string; id: string }>(
    'SELECT d.webhook_no, d.sequence, d.state, e.id FROM deliveries d JOIN events e ON e.no = d.event_no ORDER BY d.webhook_no, d.sequence',
  );
  for (const no of nos) {
    const mine = rows.filter((row) => row.webhook_no === no);
    // Nothing is left, nothing is missing, nothing is there twice, and the numbers have no gap.
    expect(
      mine.map(({ state }) => state).filter((state) => state !== 'delivered' && state !== 'failed'),
    ).toEqual([]);
    expect(mine.map(({ id }) => id).toSorted()).toEqual(accepted.map(({ mark }) => mark).toSorted());
    expect(mine.map(({ sequence }) => Number(sequence))).toEqual(mine.map((_, index) => index + 1));

    // Events about one object arrived for the first time in the order in which they were accepted.
    const [{ url } = { url: '' }] = await harness.rows<{ url: string }>(
      'SELECT url FROM webhooks WHERE no = $1',
      [no],
    );
    const received = harness.sent.filter((one) => one.url === url);
    const firsts = new Map<string, number>();
    received.forEach(({ id }, index) => {
      if (!firsts.has(id)) firsts.set(id, index);
    });
    const places = new Map(mine.map((row) => [row.id, Number(row.sequence)]));
    for (const object of new Set(accepted.map((one) => one.object))) {
      const inOrder = accepted
        .filter((one) => one.object === object)
        .map(({ mark }) => places.get(mark) ?? 0);
      expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
      const arrivals = received
        .filter(({ payload, id }, index) => payload.id === object && firsts.get(id) === index)
        .map(({ sequence }) => sequence);
      expect(arrivals).toEqual(arrivals.toSorted((a, b) => a - b));
    }
    // One name stands for one delivery, in every attempt.
    const names = new Map(received.map(({ id, sequence }) => [id, sequence]));
    for (const { id, sequence } of received) expect(names.get(id)).toBe(sequence);
    expect(new Set(names.values()).size).toBe(names.size);
  }
}
