import type { Node } from '../../contract/operator/oversight/deployment.ts';
import { type Clock, databaseTime } from '../../platform/clock.ts';
import type { Database } from '../../store/database.ts';
import { forgetNode, signNode } from '../../store/oversight/nodes.ts';
import type { Figures } from './figures.ts';

const SIGN_MS = 15_000;
const MINUTE_MS = 60_000;
/** A node without a heartbeat for this long is gone: it may miss three heartbeats. */
export const NODE_GONE_MS = 60_000;

interface Surroundings {
  db: Database;
  clock: Clock;
  figures: Figures;
  skewMs: () => number;
}

/** Writes a heartbeat of this node every 15 seconds: its clock skew, and its requests and deliveries of the last minute. */
export class NodeHeartbeats {
  readonly #surroundings: Surroundings;
  readonly #node: Pick<Node, 'id' | 'name' | 'version' | 'role' | 'started_at'>;
  /** The counts at each heartbeat of the last minute. */
  #counted: { at: number; calls: number; deliveries: number }[];
  #cancel = () => {};
  #underWay: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    surroundings: Surroundings,
    node: Pick<Node, 'id' | 'name' | 'version' | 'role' | 'started_at'>,
  ) {
    this.#surroundings = surroundings;
    this.#node = node;
    this.#counted = [{ at: surroundings.clock.monotonic(), ...surroundings.figures.total }];
  }

  start(): void {
    // If the database is away, the next heartbeat is soon enough.
    this.#underWay = this.sign().catch(() => {});
    if (!this.#stopped) this.#cancel = this.#surroundings.clock.timer(SIGN_MS, () => this.start());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.#underWay;
    await forgetNode(this.#surroundings.db, this.#node.id).catch(() => {});
  }

  async sign(): Promise<void> {
    const { db, clock, figures, skewMs } = this.#surroundings;
    const now = { at: clock.monotonic(), ...figures.total };
    const recent = this.#counted.findLastIndex(({ at }) => now.at - at >= MINUTE_MS);
    this.#counted = [...this.#counted.slice(Math.max(0, recent)), now];
    const first = this.#counted[0] ?? now;
    const minutes = Math.max(1, (now.at - first.at) / MINUTE_MS);
    const perMinute = (count: number) => Math.round((count / minutes) * 10) / 10;
    await signNode(db, databaseTime(clock), {
      ...this.#node,
      clock_skew_ms: Math.round(skewMs()),
      calls_per_minute: perMinute(now.calls - first.calls),
      deliveries_per_minute: perMinute(now.deliveries - first.deliveries),
    });
  }
}
