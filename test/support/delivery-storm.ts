import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { PostOutcome } from '../../src/platform/egress/egress.ts';
import { check } from './delivery-model.ts';
import { answered, openPostOffice, type PostOffice } from './post-office.ts';

/**
 * Three workers at the same queues at the same time, and everything that may happen to them in between: receivers that are
 * late, fail, cannot be reached or never answer, leases that run out, signs of life that stop, connections that break,
 * webhooks that are paused, changed and disabled, replays. In the end all of it heals, and nothing may be missing.
 */
export async function storm(roll: (below: number) => number, steps: number): Promise<void> {
  const office = await openPostOffice();
  try {
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
    office.answerWith(answering);
    const workers = [await office.workerThat(answering), await office.workerThat(answering)];
    const engines = [office.engine, ...workers.map(({ engine }) => engine)];
    const nos: number[] = [];
    for (let n = 0; n < 3; n++)
      nos.push(await office.addWebhook(n < 2 ? { url: `https://shared.example/${n}` } : {}));
    for (const engine of engines) engine.start();
    const accepted: { object: string; mark: string }[] = [];
    const release = (all: boolean) => {
      for (const answer of hung)
        if (all || roll(2)) {
          hung.delete(answer);
          answer(all || roll(2) ? 200 : 500);
        }
    };
    const one = () => nos[roll(nos.length)];
    const now = () => new Date(office.clock.now()).toISOString();
    const deeds: [number, () => Promise<unknown> | unknown][] = [
      [
        30,
        async () => {
          const objects = roll(3) === 0 ? 1 + roll(3) : 1 + roll(60);
          const events = Array.from({ length: 1 + roll(roll(5) === 0 ? 200 : 25) }, () => ({
            id: `object-${roll(objects)}`,
          }));
          const marks = await office.publish(...events);
          marks.forEach((mark, index) => {
            accepted.push({ mark, object: events[index]?.id ?? '' });
          });
        },
      ],
      [12, () => office.clock.advance(1 + roll(9_000))],
      [3, () => office.clock.advance(20_001)],
      [1, () => office.clock.advance(400_000)],
      [6, () => release(false)],
      [4, () => office.rows("UPDATE webhooks SET status = 'paused' WHERE no = $1", [one()])],
      [
        8,
        () =>
          office.rows("UPDATE webhooks SET status = 'active', version = version + 1 WHERE no = $1", [one()]),
      ],
      [
        6,
        () =>
          office.rows(
            'SELECT replay_deliveries($1, $2, (SELECT array_agg(no) FROM (SELECT no FROM events WHERE position IS NOT NULL ORDER BY no DESC LIMIT $3 OFFSET $4) AS e)) WHERE EXISTS (SELECT FROM events WHERE position IS NOT NULL OFFSET $4)',
            [now(), one(), 1 + roll(20), roll(30)],
          ),
      ],
      // A sign of life stops while its worker goes on.
      [
        5,
        () =>
          office.rows(
            "SELECT pg_terminate_backend(pid) FROM (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) ORDER BY pid OFFSET $1 LIMIT 1) AS alive",
            [roll(3)],
          ),
      ],
      // The lanes of one that lives are taken for those of a dead one.
      [
        4,
        () =>
          office.rows('UPDATE webhook_lanes SET holder = NULL, held_until = NULL WHERE webhook_no = $1', [
            one(),
          ]),
      ],
      [1, () => workers[0]?.die()],
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
    await office.rows("UPDATE webhooks SET status = 'active', version = version + 1");
    let left = Number.POSITIVE_INFINITY;
    let limit = 0;
    for (;;) {
      const still = await open(office);
      if (still === 0) break;
      // Stuck is what does not move for long, though time passes.
      if (still < left) limit = Date.now() + 8_000;
      left = Math.min(left, still);
      if (Date.now() > limit) break;
      release(true);
      await pause(40);
      if (!(await office.toNextDue())) office.clock.advance(1_000);
      else office.clock.advance(500);
      await office.rows(
        "UPDATE webhooks SET status = 'active', version = version + 1 WHERE status <> 'active'",
      );
    }
    for (const engine of engines) await engine.stop();
    expect(await open(office)).toBe(0);
    await check(office, nos, accepted);
    const odd = office.logLines.filter(({ level }) => level === 'error' || Number(level) >= 50);
    expect(odd).toEqual([]);
    expect(
      await office.rows('SELECT deadlocks::integer FROM pg_stat_database WHERE datname = current_database()'),
    ).toEqual([{ deadlocks: 0 }]);
    // No attempt is written down that was not made, and none twice.
    const sent = new Map<string, number>();
    for (const { id } of office.letters) sent.set(id, (sent.get(id) ?? 0) + 1);
    const told = await office.rows<{ id: string; attempts: number }>(
      "SELECT replace(w.id, 'wh_', 'dlv_') || '_' || d.sequence AS id, json_array_length(d.attempts) AS attempts FROM deliveries d JOIN webhooks w ON w.no = d.webhook_no",
    );
    expect(told.filter(({ id, attempts }) => attempts > (sent.get(id) ?? 0))).toEqual([]);
  } finally {
    await office.close();
  }
}

async function open(office: PostOffice): Promise<number> {
  const [row] = await office.rows<{ count: number }>(
    "SELECT (SELECT count(*) FROM deliveries WHERE state IN ('due', 'waiting'))::integer + (SELECT count(*) FROM events WHERE position IS NULL)::integer AS count",
  );
  return row?.count ?? 0;
}
