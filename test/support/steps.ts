import type pg from 'pg';
import { fanOutSql } from '../../src/store/events/deliveries.ts';
import { claimDeliveriesSql } from '../../src/store/events/deliveries-claim.ts';
import {
  type RecordedLane,
  type Result,
  recordResultsSql,
} from '../../src/store/events/deliveries-record.ts';
import { replayDeliveriesSql } from '../../src/store/events/deliveries-replay.ts';
import { clearOldSql } from '../../src/store/oversight/retention.ts';
import type { Sender } from '../../src/store/sql-functions.ts';

/**
 * The steps that the delivery engine takes, on a connection of the test's own: as another role, in a transaction that is undone or held open, with
 * EXPLAIN before it. `at` null: by the clock of the server.
 */
export type Step<Row extends object = object> = (sender: Sender) => Promise<Row[]>;

/** `before` is put before each statement. */
export function on(client: Pick<pg.Client, 'query'>, before = ''): Sender {
  return {
    query: async <Row extends object>(text: string, values: readonly unknown[]) =>
      (await client.query(before + text, [...values])).rows as Row[],
  };
}

export const fanOutStep =
  (at: string | null = null, eventsMax = 1_000): Step =>
  (sender) =>
    fanOutSql(sender, { at, me: 1, events_max: eventsMax });

interface ClaimOptions {
  at?: string | null;
  leaseMs?: number;
  me?: number;
  deliveriesMax?: number;
  usualRoom?: number;
  lookBack: boolean;
}

/** By a worker that knows no webhook yet. */
export const claimStep =
  ({ at = null, leaseMs = 0, me = 1, deliveriesMax = 1_000, usualRoom = 4, lookBack }: ClaimOptions): Step =>
  (sender) =>
    claimDeliveriesSql(sender, {
      at,
      lease_ms: leaseMs,
      me,
      after_no: 0,
      deliveries_max: deliveriesMax,
      usual_room: usualRoom,
      look_back: lookBack,
      known_nos: [],
      known_rooms: [],
      known_held: [],
      known_froms: [],
      under_way: '',
      passed_over: [],
      usual_only: false,
    });

const NOTHING_ALONE = {
  webhook_nos: [],
  sequences: [],
  tries_before: [],
  states: [],
  retry_delays_ms: [],
  afters: [],
  attempt_texts: '',
};
const NO_STRETCHES = { stretch_nos: [], stretch_sizes: [], stretch_sequences: [], stretch_texts: '' };
const attemptsOf = (results: readonly unknown[]) => results.map(() => '[{}]').join('\n');

/** After a first attempt each. What is due is due at once. */
export const recordStep =
  (
    results: readonly Pick<Result, 'webhookNo' | 'sequence' | 'state'>[],
    /** Of every webhook among them: before which sequence nothing is new. */
    low: number,
    at: string | null = null,
  ): Step<RecordedLane> =>
  (sender) => {
    const lanes = [...new Set(results.map(({ webhookNo }) => webhookNo))];
    return recordResultsSql(sender, {
      at,
      me: 1,
      webhook_nos: results.map(({ webhookNo }) => webhookNo),
      sequences: results.map(({ sequence }) => sequence),
      tries_before: results.map(() => 0),
      states: results.map(({ state }) => state),
      retry_delays_ms: results.map(({ state }) => (state === 'due' ? 0 : null)),
      afters: results.map(() => 0),
      attempt_texts: attemptsOf(results),
      lane_nos: lanes,
      lows: lanes.map(() => low),
      ...NO_STRETCHES,
    });
  };

/** Deliveries that arrived at the first try, in one stretch. */
export const recordStretchStep =
  (webhookNo: number, sequences: readonly number[], low: number): Step<RecordedLane> =>
  (sender) =>
    recordResultsSql(sender, {
      at: null,
      me: 1,
      ...NOTHING_ALONE,
      lane_nos: [webhookNo],
      lows: [low],
      stretch_nos: [webhookNo],
      stretch_sizes: [sequences.length],
      stretch_sequences: sequences,
      stretch_texts: attemptsOf(sequences),
    });

export const replayStep =
  (webhook: number, eventNos: readonly number[], at: string | null = null): Step =>
  (sender) =>
    replayDeliveriesSql(sender, { at, webhook, event_nos: eventNos });

interface ClearOptions {
  at?: string | null;
  keptDays: number;
  openKeptDays: number;
  rowsMax: number;
}

/** What was received is not noted in the access log. */
export const clearOldStep =
  ({ at = null, keptDays, openKeptDays, rowsMax }: ClearOptions): Step =>
  (sender) =>
    clearOldSql(sender, {
      given: at,
      kept_days: keptDays,
      open_kept_days: openKeptDays,
      rows_max: rowsMax,
      received_days: 0,
    });

/** The numbers of all events, or of those that a query tells, in that order. */
export async function eventNos(
  client: Pick<pg.Client, 'query'>,
  text = 'SELECT no FROM events ORDER BY no',
  values: unknown[] = [],
): Promise<number[]> {
  const { rows } = await client.query<{ no: string }>(text, values);
  return rows.map(({ no }) => Number(no));
}
