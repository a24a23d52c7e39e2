import { alone, type Database } from '../database.ts';
import { list, sqlFunction } from '../sql-functions.ts';

/** What became of a delivery. */
export interface Result {
  webhookNo: number;
  sequence: number;
  objectHash: string;
  /** Attempts before this one. */
  triesBefore: number;
  /** Waiting: it was not sent, because an earlier one about the same object is not finished. */
  state: 'delivered' | 'failed' | 'due' | 'waiting';
  /** How long after its answer to try again, if it is due. */
  retryDelayMs: number | undefined;
  /** When it was answered, by the monotonic clock: until it is written, its delay goes by. */
  answeredAt: number;
  /** From the acceptance of its event to then. */
  delayMs: number;
  /** What came of the attempt: the kind of status, such as `5xx`, or the phase in which it broke off; empty when there was none. */
  cause: string;
  /** The one that it waits for; 0: one that was set aside. */
  after: number;
  /** The attempt as JSON on one line, in an array of its own; empty when there was none or it cannot be told. */
  attempt: string;
  /** The address that says that there is nobody any more. */
  gone: string | undefined;
}

/** Before this sequence nothing is new, once the results are written. */
export interface LaneLow {
  no: number;
  low: number;
}

/** How a webhook is doing after results were written. */
export interface RecordedLane {
  webhook_no: number;
  failures: number;
  failing_since: string | null;
  /** Over all webhooks: deliveries that are due because an earlier one of their object is finished. */
  woken: number;
  /** Whether this worker holds its lane; if not, nothing but successes was written. */
  held: boolean;
}

/** So many deliveries to one webhook that arrived at the first try are written in one go: for fewer, to begin with it costs more. */
const STRETCH_MIN = 8;
/** What lies further apart is not of one stretch: PostgreSQL may read what is between. */
const GAP_MAX = 100;

export const recordResultsSql = sqlFunction('record_results', {
  at: 'timestamptz',
  me: 'bigint',
  webhook_nos: 'integer[]',
  sequences: 'bigint[]',
  tries_before: 'integer[]',
  states: 'text[]',
  retry_delays_ms: 'integer[]',
  afters: 'bigint[]',
  attempt_texts: 'text',
  lane_nos: 'integer[]',
  lows: 'bigint[]',
  stretch_nos: 'integer[]',
  stretch_sizes: 'integer[]',
  stretch_sequences: 'bigint[]',
  stretch_texts: 'text',
});

/** `lows` has every lane that the results are about. `moment`: now, by the monotonic clock. `at` null: by the clock of the server. */
export function recordResults(
  db: Database,
  { at, moment }: { at: string | null; moment: number },
  me: number,
  results: readonly Result[],
  lows: readonly LaneLow[],
): Promise<RecordedLane[]> {
  const { stretches, others } = inStretches(results);
  const stretched = stretches.flat();
  return recordResultsSql<RecordedLane>(alone(db), {
    at,
    me,
    webhook_nos: list(others, (one) => one.webhookNo),
    sequences: list(others, (one) => one.sequence),
    tries_before: list(others, (one) => one.triesBefore),
    states: list(others, (one) => one.state),
    retry_delays_ms: list(others, (one) => delayLeft(one, moment) ?? 'NULL'),
    afters: list(others, (one) => one.after),
    attempt_texts: others.map((one) => one.attempt).join('\n'),
    lane_nos: list(lows, (lane) => lane.no),
    lows: list(lows, (lane) => lane.low),
    stretch_nos: list(stretches, ([first]) => first?.webhookNo ?? 'NULL'),
    stretch_sizes: list(stretches, (stretch) => stretch.length),
    stretch_sequences: list(stretched, (one) => one.sequence),
    stretch_texts: stretched.map((one) => one.attempt).join('\n'),
  });
}

function delayLeft({ retryDelayMs, answeredAt }: Result, moment: number): number | undefined {
  return retryDelayMs && Math.max(0, Math.round(retryDelayMs - (moment - answeredAt)));
}

function inStretches(results: readonly Result[]): { stretches: Result[][]; others: Result[] } {
  const others: Result[] = [];
  const arrived = new Map<number, Result[]>();
  for (const result of results) {
    const { webhookNo, state, triesBefore, attempt } = result;
    const known = arrived.get(webhookNo);
    if (state !== 'delivered' || triesBefore > 0 || attempt === '') others.push(result);
    else if (known) known.push(result);
    else arrived.set(webhookNo, [result]);
  }
  const stretches: Result[][] = [];
  for (const these of arrived.values()) {
    these.sort((a, b) => a.sequence - b.sequence);
    let from = 0;
    for (let to = 1; to <= these.length; to++) {
      const gap = (these[to]?.sequence ?? Number.POSITIVE_INFINITY) - (these[to - 1]?.sequence ?? 0);
      if (gap <= GAP_MAX) continue;
      if (to - from < STRETCH_MIN) others.push(...these.slice(from, to));
      else stretches.push(these.slice(from, to));
      from = to;
    }
  }
  return { stretches, others };
}
