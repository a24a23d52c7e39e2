import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import type { PostOutcome } from '../../src/platform/egress/egress.ts';
import { answered, type DeliveryHarness, openDeliveryHarness } from './delivery-harness.ts';
import { clearOldStep, eventNos, on, replayStep } from './steps.ts';

/**
 * Three workers at the same queues at the same time, and everything that may happen to them in between: receivers that are
 * late, fail, cannot be reached or never answer, leases that run out, signs of life that stop, connections that break,
 * webhooks that are paused, changed, disabled, added and deleted, replays, what is old cleared away. In the end all of it
 * heals, and nothing may be missing.
 */
export async function storm(roll: (below: number) => number, steps: number): Promise<void> {
  const harness = await openDeliveryHarness();
  try {
    // What was ever put into a queue, also of webhooks that are deleted and events that are cleared away.
    await harness.rows(
      `CREATE TABLE made AS SELECT webhook_no, sequence, event_no, object_hash, ''::text AS object FROM deliveries`,
    );
    await harness.rows(`CREATE FUNCTION note_made() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO made SELECT NEW.webhook_no, NEW.sequence, NEW.event_no, NEW.object_hash, object_id FROM events WHERE no = NEW.event_no;
      RETURN NULL; END $$`);
    await harness.rows(
      'CREATE TRIGGER note_made AFTER INSERT ON deliveries FOR EACH ROW EXECUTE FUNCTION note_made()',
    );
    await harness.rows('CREATE TABLE accepted AS SELECT no FROM events');
    await harness.rows(`CREATE FUNCTION note_accepted() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO accepted VALUES (NEW.no); RETURN NULL; END $$`);
    await harness.rows(
      'CREATE TRIGGER note_accepted AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION note_accepted()',
    );
    const hung = new Set<(answer: number) => void>();
    let healed = false;
    const answering = async (): Promise<number | PostOutcome> => {
      if (healed) return 200;
      const kind = roll(100);
      await pause(roll(4) === 0 ? roll(60) : roll(6));
      if (healed || kind < 70) return 200;
      if (kind < 85) return 500;
      if (kind < 87) return 410;
      if (kind < 94)
        return answered(0, { status: undefined, failure: { phase: 'connect', code: 'x', detail: '' } });
      return new Promise((resolve) => hung.add(resolve));
    };
    harness.answerWith(answering);
    const workers = [await harness.workerThat(answering), await harness.workerThat(answering)];
    const engines = [harness.engine, ...workers.map(({ engine }) => engine)];
    const nos: number[] = [];
    for (let n = 0; n < 3; n++)
      nos.push(await harness.addWebhook(n < 2 ? { url: `https://shared.example/${n}` } : {}));
    for (const engine of engines) engine.start();
    /** So many events, by what their callers heard. */
    let heard = 0;
    const failures: unknown[] = [];
    const { user, host, port, database, password } = harness.admin;
    const other = new pg.Client({ user, host, port, database, password: password ?? undefined });
    await other.connect();
    const release = (all: boolean) => {
      for (const answer of hung)
        if (all || roll(2)) {
          hung.delete(answer);
          answer(all || roll(2) ? 200 : 500);
        }
    };
    const lasting = new Set(nos);
    const ids = new Map<number, string>();
    const one = () => nos[roll(nos.length)];
    const learnIds = async () => {
      for (const row of await harness.rows<{ no: number; id: string }>('SELECT no, id FROM webhooks'))
        ids.set(row.no, row.id);
    };
    const now = () => new Date(harness.clock.now()).toISOString();
    const replay = async (client: pg.Client, text: string, values: unknown[]) => {
      const no = one();
      if (no !== undefined) await replayStep(no, await eventNos(client, text, values), now())(on(client));
    };
    const deeds: [number, () => Promise<unknown> | unknown][] = [
      [
        30,
        async () => {
          const objects = roll(3) === 0 ? 1 + roll(3) : 1 + roll(60);
          const events = Array.from({ length: 1 + roll(roll(5) === 0 ? 200 : 25) }, () => ({
            id: `object-${roll(objects)}`,
          }));
          heard += (await harness.publish(...events)).length;
        },
      ],
      // One by one, by several nodes at once.
      [
        20,
        async () => {
          const calls = Array.from({ length: 1 + roll(4) }, async () => {
            const events = Array.from({ length: 1 + roll(3) }, () => ({ id: `object-${roll(20)}` }));
            heard += (await harness.accept(events, engines[roll(engines.length)])).length;
          });
          // Whose connections break meanwhile hears nothing, whether or not its events were accepted.
          await Promise.allSettled(calls);
        },
      ],
      [12, () => harness.clock.advance(1 + roll(9_000))],
      [3, () => harness.clock.advance(20_001)],
      [1, () => harness.clock.advance(400_000)],
      [6, () => release(false)],
      [4, () => harness.rows("UPDATE webhooks SET status = 'paused' WHERE no = $1", [one()])],
      [
        8,
        () =>
          harness.rows("UPDATE webhooks SET status = 'active', version = version + 1 WHERE no = $1", [one()]),
      ],
      [
        6,
        () =>
          replay(harness.admin, 'SELECT event_no AS no FROM feed ORDER BY event_no DESC LIMIT $1 OFFSET $2', [
            1 + roll(20),
            roll(30),
          ]),
      ],
      // A sign of life stops while its worker goes on.
      [
        5,
        () =>
          harness.rows(
            "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY pid OFFSET $1 LIMIT 1) AS alive",
            [roll(3)],
          ),
      ],
      // The lanes of one that lives are taken for those of a dead one.
      [
        4,
        () =>
          harness.rows('UPDATE webhook_lanes SET holder = NULL, held_until = NULL WHERE webhook_no = $1', [
            one(),
          ]),
      ],
      [1, () => workers[0]?.die()],
      [
        3,
        async () => {
          if (nos.length < 6)
            nos.push(
              await harness.addWebhook(roll(2) ? { url: `https://shared.example/x${roll(1e6)}` } : {}),
            );
          await learnIds();
        },
      ],
      [
        3,
        async () => {
          const no = nos.find((no) => !lasting.has(no));
          if (no === undefined) return;
          nos.splice(nos.indexOf(no), 1);
          await harness.rows('UPDATE webhooks SET deleted_at = $2, version = version + 1 WHERE no = $1', [
            no,
            now(),
          ]);
          await harness.rows('DELETE FROM webhook_secrets WHERE webhook_no = $1', [no]);
        },
      ],
      // Retention, here for what is older than the newest few.
      [
        4,
        async () => {
          const [oldest] = await harness.rows<{ at: Date }>(
            'SELECT accepted_at AS at FROM events ORDER BY no DESC OFFSET $1 LIMIT 1',
            [roll(3) === 0 ? roll(20) : 50 + roll(400)],
          );
          const at = (oldest?.at ?? new Date(0)).toISOString();
          const rowsMax = 1 + roll(200);
          await clearOldStep({ at, keptDays: 0, openKeptDays: 0, rowsMax })(on(harness.admin));
        },
      ],
      [
        3,
        () =>
          // All that there is, as for a webhook that is new: not awaited, so that it meets what follows.
          void replay(other, 'SELECT event_no AS no FROM feed ORDER BY event_no LIMIT $1', [
            1 + roll(300),
          ]).catch((error) => failures.push(error)),
      ],
    ];
    const weights = deeds.reduce((sum, [weight]) => sum + weight, 0);
    for (let step = 0; step < steps; step++) {
      let at = roll(weights);
      const [, deed] =
        deeds.find(([weight]) => {
          at -= weight;
          return at < 0;
        }) ?? [];
      await deed?.();
      await pause(roll(3) === 0 ? roll(60) : roll(8));
    }

    healed = true;
    release(true);
    await harness.rows("UPDATE webhooks SET status = 'active', version = version + 1");
    let left = Number.POSITIVE_INFINITY;
    let limit = 0;
    for (;;) {
      const still = await open(harness, nos);
      if (still === 0) break;
      // Stuck is what does not move for long, though time passes.
      if (still < left) limit = Date.now() + 60_000;
      left = Math.min(left, still);
      if (Date.now() > limit) break;
      release(true);
      await pause(40);
      if (!(await harness.toNextDue())) harness.clock.advance(1_000);
      else harness.clock.advance(500);
      await harness.rows(
        "UPDATE webhooks SET status = 'active', version = version + 1 WHERE status <> 'active'",
      );
    }
    await other.end();
    expect(failures).toEqual([]);
    for (const engine of engines) await engine.stop();
    const stuck = `SELECT d.webhook_no, d.sequence, d.state, d.retry_at, l.open_from, l.last_sequence
                     FROM deliveries d LEFT JOIN webhook_lanes l ON l.webhook_no = d.webhook_no
                    WHERE d.state IN ('due', 'waiting') AND d.webhook_no = ANY ($1) LIMIT 20`;
    expect(await harness.rows(stuck, [nos])).toEqual([]);
    expect(await open(harness, nos)).toBe(0);
    const accepted = (await harness.rows('SELECT FROM accepted')).length;
    expect(accepted).toBeGreaterThanOrEqual(heard);
    await checkMade(harness, [...lasting], ids, accepted);
    const odd = harness.logLines.filter(({ level }) => level === 'error' || Number(level) >= 50);
    expect(odd).toEqual([]);
    expect(
      await harness.rows(
        'SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()',
      ),
    ).toEqual([{ deadlocks: 0 }]);
    // No attempt is written down that was not made, and none twice.
    const sent = new Map<string, number>();
    for (const { id } of harness.sent) {
      const name = id.slice(0, id.lastIndexOf('_'));
      sent.set(name, (sent.get(name) ?? 0) + 1);
    }
    const told = await harness.rows<{ name: string; attempts: number }>(
      "SELECT replace(w.id, 'wh_', 'dlv_') || '_' || d.sequence AS name, json_array_length(d.attempts) AS attempts FROM deliveries d JOIN webhooks w ON w.no = d.webhook_no",
    );
    expect(told.filter(({ name, attempts }) => attempts > (sent.get(name) ?? 0))).toEqual([]);
  } finally {
    await harness.close();
  }
}

async function open(harness: DeliveryHarness, nos: number[]): Promise<number> {
  const [row] = await harness.rows<{ count: number }>(
    "SELECT (SELECT count(*) FROM deliveries WHERE state IN ('due', 'waiting') AND webhook_no = ANY ($1))::integer + (SELECT count(*) FROM new_events)::integer AS count",
    [nos],
  );
  return row?.count ?? 0;
}

interface Made {
  webhook_no: number;
  sequence: number;
  event_no: number;
  object: string;
  cleared: boolean;
}

/** Every delivery that ever was: numbered without a gap, with its own event, first received in order, and none missing. */
async function checkMade(
  harness: DeliveryHarness,
  lasting: number[],
  ids: Map<number, string>,
  accepted: number,
): Promise<void> {
  for (const row of await harness.rows<{ no: number; id: string }>('SELECT no, id FROM webhooks'))
    ids.set(row.no, row.id);
  expect(
    await harness.rows(
      'SELECT d.webhook_no, d.sequence FROM deliveries d LEFT JOIN events e ON e.no = d.event_no WHERE e.no IS NULL',
    ),
  ).toEqual([]);
  const made = await harness.rows<Made>(
    'SELECT webhook_no, sequence::integer, event_no::integer, object, NOT EXISTS (SELECT FROM deliveries d WHERE d.webhook_no = made.webhook_no AND d.sequence = made.sequence) AS cleared FROM made ORDER BY 1, 2',
  );
  expect(await harness.rows('SELECT position::integer FROM feed_head')).toEqual([{ position: accepted }]);
  for (const no of new Set(made.map((one) => one.webhook_no))) {
    const mine = made.filter((one) => one.webhook_no === no);
    expect(mine.map(({ sequence }) => sequence)).toEqual(mine.map((_, index) => index + 1));
    expect(new Set(mine.map(({ event_no }) => event_no)).size).toBe(mine.length);
    // Every event went into the queue of every webhook that was there all the time.
    if (lasting.includes(no)) expect(mine.length).toBe(accepted);
    const prefix = `${ids.get(no)?.replace('wh_', 'dlv_')}_`;
    const received = harness.sent.filter(({ id }) => id.startsWith(prefix));
    const bySequence = new Map(mine.map((one) => [one.sequence, one]));
    const seen = new Set<number>();
    const last = new Map<string, number>();
    for (const { sequence, payload } of received) {
      const one = bySequence.get(sequence);
      expect(one?.object).toBe(payload.id);
      if (seen.has(sequence)) continue;
      seen.add(sequence);
      if (one?.cleared) continue;
      const before = last.get(payload.id) ?? 0;
      expect(before, `delivery ${sequence} to webhook ${no} about ${payload.id}`).toBeLessThan(sequence);
      last.set(payload.id, sequence);
    }
    if (lasting.includes(no))
      for (const { sequence, cleared } of mine) if (!cleared) expect(seen.has(sequence)).toBe(true);
  }
}
