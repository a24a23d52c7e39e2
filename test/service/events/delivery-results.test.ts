import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Recorder } from '../../../src/delivery/recorder.ts';
import { createLogger } from '../../../src/platform/logger.ts';
import { type Result, recordResults } from '../../../src/store/events/deliveries-record.ts';
import { openDeliveryHarness } from '../../support/delivery-harness.ts';
import { seedOf } from '../../support/seed.ts';

/** How a delivery stands before its result is written, and what became of it. */
const DELIVERY = fc.record({
  object: fc.integer({ min: 0, max: 12 }),
  stands: fc.constantFrom('new', 'new', 'new', 'new', 'tried', 'finished', 'waiting'),
  ends: fc.constantFrom('delivered', 'delivered', 'delivered', 'delivered', 'due', 'failed', undefined),
  answeredAt: fc.nat(),
  delayMs: fc.nat(),
  cause: fc.constantFrom('', '2xx', '5xx', 'tls'),
  /** Finished ones before it, of which there is nothing to say. */
  gap: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 99, 100),
});
const ROUND = fc.record({
  deliveries: fc.array(DELIVERY, { minLength: 1, maxLength: 40 }),
  isHeld: fc.boolean(),
});
interface Written {
  webhook_no: number;
  sequence: string;
  tries: number;
  attempts: object[];
}

function sequencesOf(deliveries: readonly { gap: number }[]): number[] {
  let last = 0;
  return deliveries.map(({ gap }) => {
    last += gap + 1;
    return last;
  });
}

type Round = typeof ROUND extends fc.Arbitrary<infer Value> ? Value : never;

it('results that are written together say what they say when they are written one by one', async () => {
  const harness = await openDeliveryHarness();
  await harness.rows("SET porter.tenant = '*'");
  const at = new Date(harness.clock.now()).toISOString();

  async function addWebhook({ deliveries, isHeld }: Round): Promise<number> {
    const no = await harness.addWebhook();
    await harness.rows(
      `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, tries, retry_at, attempts, created_at)
       SELECT $1::integer, sequence, sequence, object, CASE stands WHEN 'finished' THEN 'delivered' WHEN 'waiting' THEN 'waiting' ELSE 'due' END,
              CASE WHEN stands IN ('tried', 'finished') THEN 1 ELSE 0 END,
              CASE stands WHEN 'waiting' THEN 'infinity'::timestamptz WHEN 'tried' THEN $4::timestamptz END,
              CASE WHEN stands IN ('tried', 'finished') THEN '[{"before":true}]' ELSE '[]' END::json, $4::timestamptz
         FROM unnest($2::integer[], $3::text[], $5::integer[]) AS delivery (object, stands, sequence)`,
      [
        no,
        deliveries.map(({ object }) => object),
        deliveries.map(({ stands }) => stands),
        at,
        sequencesOf(deliveries),
      ],
    );
    await harness.rows(
      `UPDATE webhook_lanes SET last_sequence = $2, holder = $3, failures = 3, failing_since = '2026-01-01'
        WHERE webhook_no = $1`,
      [no, sequencesOf(deliveries).at(-1), isHeld ? 7 : 8],
    );
    return no;
  }

  function resultsOf({ deliveries }: Round, no: number) {
    const sequences = sequencesOf(deliveries);
    return deliveries.flatMap(({ object, stands, ends, answeredAt }, index) => {
      if (ends === undefined || stands === 'waiting') return [];
      const result: Result = {
        webhookNo: no,
        sequence: sequences[index] as number,
        objectHash: String(object),
        // The worker need not know that another one has tried since.
        triesBefore: stands === 'tried' && ends !== 'delivered' ? 1 : 0,
        state: ends,
        retryDelayMs: ends === 'due' ? 5_000 : undefined,
        answeredAt: 0,
        delayMs: 0,
        cause: '',
        after: 0,
        attempt: `[{"n":${index + 1},"to":${no}}]`,
        gone: undefined,
      };
      return { result, answeredAt };
    });
  }

  async function write(round: Round, atOnce: number) {
    const nos = [await addWebhook(round), await addWebhook(round)];
    const results = nos
      .flatMap((no) => resultsOf(round, no))
      .sort((a, b) => a.answeredAt - b.answeredAt)
      .map(({ result }) => result);
    for (let from = 0; from < results.length; from += atOnce) {
      const batch = results.slice(from, from + atOnce);
      const about = new Set(batch.map(({ webhookNo }) => webhookNo));
      const lows = [...about].map((no) => ({ no, low: 1 }));
      await recordResults(harness.db, { at, moment: 0 }, 7, batch, lows);
    }
    const written = await harness.rows<Written>(
      `SELECT d.webhook_no, sequence, state, tries, retry_at, finished_at,
              (replace(attempts::text, '"to":' || d.webhook_no, '"to":"it"'))::json AS attempts,
              failures, failing_since, last_success_at
         FROM deliveries d JOIN webhook_lanes lane ON lane.webhook_no = d.webhook_no
        WHERE d.webhook_no = ANY ($1) ORDER BY d.webhook_no, sequence`,
      [nos],
    );
    return written.map(({ webhook_no, ...row }) => ({ ...row, webhook: nos.indexOf(webhook_no) }));
  }

  const isSame = fc.asyncProperty(ROUND, async (round) => {
    const arrived = {
      ...round,
      deliveries: round.deliveries.map((one) => ({ ...one, ends: one.ends && ('delivered' as const) })),
    };
    expect(await write(arrived, 100)).toEqual(await write(arrived, 1));
    // A lane with successes and failures in one batch is well; one after the other, what came last counts.
    const told = (rows: Awaited<ReturnType<typeof write>>) =>
      rows.map(({ sequence, webhook, tries, attempts }) => ({ sequence, webhook, tries, attempts }));
    expect(told(await write(round, 100))).toEqual(told(await write(round, 1)));
  });
  await fc.assert(isSame, { seed: seedOf('results', 5), numRuns: 20 });
});

it('results that keep coming are written in few batches, and none waits for more when no more come', async () => {
  const harness = await openDeliveryHarness();
  const no = await harness.addWebhook();
  await harness.rows(
    `INSERT INTO deliveries (webhook_no, sequence, event_no, object_hash, state, created_at)
     SELECT $1::integer, n, n, n, 'due', now() FROM generate_series(1, 5000) AS n`,
    [no],
  );
  const batches: number[] = [];
  const recorder = new Recorder(
    {
      db: harness.db,
      clock: harness.clock,
      log: createLogger(() => {}),
      me: 7,
      usage: { deliver: () => {} },
    },
    {
      prepare: (results) => ({ results: [...results], lows: [{ no, low: 1 }] }),
      recorded: (results) => batches.push(results.length),
      unrecorded: () => {},
      resume: () => {},
    },
  );
  const turn = () => new Promise(setImmediate);
  let sequence = 0;
  const answer = (count: number) => {
    for (let n = 0; n < count; n++)
      recorder.add({
        webhookNo: no,
        sequence: ++sequence,
        objectHash: '',
        triesBefore: 0,
        state: 'delivered',
        retryDelayMs: undefined,
        answeredAt: 0,
        delayMs: 0,
        cause: '',
        after: 0,
        attempt: '[{}]',
        gone: undefined,
      });
  };
  answer(3);
  await recorder.idle();
  expect(batches.splice(0)).toEqual([3]);
  // Many with each turn of the event loop.
  for (let turns = 0; turns < 4; turns++) {
    answer(150);
    await turn();
  }
  await recorder.idle();
  expect(batches.splice(0)).toEqual([600]);
  // No more than are quick to write.
  while (sequence < 3_000) {
    answer(150);
    await turn();
  }
  await recorder.idle();
  expect(batches.length).toBeLessThan(6);
  expect(await harness.rows("SELECT FROM deliveries WHERE state = 'delivered'")).toHaveLength(sequence);
});
