import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { EventPayload } from '../../src/contract/event-payloads.ts';
import { createEngine, type Engine } from '../../src/delivery/engine.ts';
import { SYSTEM } from '../../src/domain/access/principal.ts';
import { newId } from '../../src/domain/ids.ts';
import { Bell } from '../../src/platform/bell.ts';
import type { PostOutcome, PostRequest } from '../../src/platform/egress/egress.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { readConfig } from '../../src/service/config.ts';
import { closeDatabase, type Database, openDatabase, transact } from '../../src/store/database.ts';
import { acceptEvents, appendEvents } from '../../src/store/events/events.ts';
import { prepareDatabase } from '../../src/store/migrate.ts';
import { afterwards } from './afterwards.ts';
import { ManualClock } from './manual-clock.ts';
import { createUpToDateDatabase } from './service.ts';

/**
 * A delivery engine on a real PostgreSQL, with a clock and a sender that the test decides: a year of retries takes as long
 * as its statements. What a receiver would see is in `sent`.
 */
interface SentDelivery extends PostRequest {
  at: number;
  id: string;
  sequence: number;
  payload: EventPayload;
}

type Answering = (delivery: SentDelivery) => number | PostOutcome | Promise<number | PostOutcome>;

export interface DeliveryHarness {
  db: Database;
  admin: pg.Client;
  clock: ManualClock;
  engine: Engine;
  sent: SentDelivery[];
  logLines: Record<string, unknown>[];
  answerWith(answering: Answering): void;
  /** Whether a host that rests can be dialled; it cannot, unless a test says so. */
  dialWith(dialling: (url: string) => boolean): void;
  /** Another worker on the same queue, with connections of its own. */
  workerThat(answering: Answering): Promise<{ engine: Engine; die(): Promise<void> }>;
  /** `group` null: for all practice groups of the partner. */
  addWebhook(options?: { url?: string; group?: string | null; eventTypes?: string[] }): Promise<number>;
  publish(...events: Partial<EventPayload>[]): Promise<string[]>;
  /** As calls that bring one event each, gathered, by the node of an engine (unless it is named, this one). Returns their IDs. */
  accept(events: readonly Partial<EventPayload>[], engine?: Engine): Promise<string[]>;
  /** Rows of the database, for what nobody is told. */
  rows<T extends object>(sql: string, values?: unknown[]): Promise<T[]>;
  /** Moves the clock to when the next delivery is due, if that is before the limit. False when there is none. */
  toNextDue(limit?: number): Promise<boolean>;
  close(): Promise<void>;
}

/** As the settings have it. */
export const RETENTION = readConfig({}, '/').retention;
const WORKER = 'another worker';

export const answered = (status: number, extra: Partial<PostOutcome> = {}): PostOutcome => ({
  status,
  retryAfter: undefined,
  answer: '',
  durationMs: 1,
  failure: undefined,
  isLocal: false,
  ...extra,
});

export async function openDeliveryHarness(): Promise<DeliveryHarness> {
  const url = await createUpToDateDatabase();
  const { role } = await prepareDatabase(url, async () => {});
  const db = openDatabase({ url, connectionsMax: 8, role });
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  // As the service has it: before version 18 a server compiles plans here that are used once.
  await admin.query('SET jit = off');
  const clock = new ManualClock();
  const sent: SentDelivery[] = [];
  const logLines: Record<string, unknown>[] = [];
  const log = createLogger((line) => logLines.push(JSON.parse(line)));
  const workers: Database[] = [];
  let answering: Answering = () => 200;
  let dialling: (url: string) => boolean = () => false;
  let webhooks = 0;
  let closed = false;

  const newEvent = (event: Partial<EventPayload>) => ({
    id: newId('evt', clock.now(), randomBytes),
    payload: {
      object: 'Appointment',
      id: 'appointment-1',
      practice_group_id: 'group',
      event: 'appointment.confirmed',
      ...event,
    } as EventPayload,
  });

  const engineThat = (db: Database, answers: Answering): Engine => {
    const post = async (request: PostRequest) => {
      const { 'webhook-id': id = '', 'webhook-sequence': sequence } = request.headers;
      const payload = JSON.parse(request.body);
      const delivery = { ...request, at: clock.now(), id, sequence: Number(sequence), payload };
      sent.push(delivery);
      const answer = await answers(delivery);
      return typeof answer === 'number' ? answered(answer) : answer;
    };
    const open = ({ sealed, keyId }: { sealed: Uint8Array; keyId: string }) => {
      if (keyId !== 'k') throw new Error(`no key ${keyId}`);
      return sealed;
    };
    return createEngine({
      db,
      clock,
      random: randomBytes,
      log,
      post,
      dial: async (url) => dialling(url),
      operatorEgress: { post, dial: async (url) => dialling(url) },
      newChanges: new Bell(clock),
      isOnTime: () => true,
      open,
      retention: RETENTION,
      usage: { deliver: () => {} },
    });
  };

  /** Their connections break off, as when the process is killed. */
  const killWorkers = async () => {
    const pids = await harness.rows<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()',
      [WORKER],
    );
    for (const { pid } of pids) await harness.rows('SELECT pg_terminate_backend($1, 5000)', [pid]);
  };

  const harness: DeliveryHarness = {
    db,
    admin,
    clock,
    sent,
    logLines,
    engine: engineThat(db, (delivery) => answering(delivery)),
    answerWith(next) {
      answering = next;
    },
    dialWith(next) {
      dialling = next;
    },
    async workerThat(answers) {
      const named = new URL(url);
      named.searchParams.set('application_name', WORKER);
      const own = openDatabase({ url: named.href, connectionsMax: 4, role });
      workers.push(own);
      return { engine: engineThat(own, answers), die: killWorkers };
    },
    async addWebhook({
      url = `https://receiver-${++webhooks}.example/hook`,
      group = 'group',
      eventTypes,
    } = {}) {
      const { rows } = await admin.query(
        `WITH w AS (INSERT INTO webhooks (id, partner_id, practice_group_id, url, event_types, status, created_at, updated_at, audience)
           VALUES ($1, 'partner', $2, $3, $4, 'active', $5, $5, CASE WHEN $2::text IS NULL THEN 'partner' ELSE 'practice_group' END) RETURNING no),
         lane AS (INSERT INTO webhook_lanes (webhook_no) SELECT no FROM w),
         secret AS (INSERT INTO webhook_secrets (webhook_no, sealed, key_id, created_at) SELECT no, $6, 'k', $5 FROM w)
         SELECT no FROM w`,
        [
          newId('wh', clock.now(), randomBytes),
          group,
          url,
          eventTypes ?? ['appointment.confirmed', 'appointment.cancelled', 'prescription.issued'],
          new Date(clock.now()).toISOString(),
          randomBytes(32),
        ],
      );
      return rows[0].no;
    },
    async publish(...events) {
      const acceptedAt = new Date(clock.now()).toISOString();
      const accepted = events.map(newEvent);
      await transact(db, SYSTEM, async (tx) => appendEvents(tx, { sourceId: 'test', acceptedAt }, accepted));
      return accepted.map(({ id }) => id);
    },
    async accept(events, engine = harness.engine) {
      const acceptedAt = new Date(clock.now()).toISOString();
      const accepted = events.map((event) => ({
        ...newEvent(event),
        sourceId: 'test',
        traceparent: undefined,
        keyed: undefined,
      }));
      const outcomes =
        (await engine.accept(acceptedAt, accepted)) ?? (await acceptEvents(db, acceptedAt, accepted));
      if (outcomes.some(({ outcome }) => outcome !== 'accepted')) throw new Error('an event was refused');
      return accepted.map(({ id }) => id);
    },
    async rows(sql, values) {
      return (await admin.query(sql, values)).rows;
    },
    async toNextDue(limit = Number.POSITIVE_INFINITY) {
      const [row] = await harness.rows<{ at: Date | null }>(
        "SELECT min(coalesce(retry_at, d.created_at)) AS at FROM deliveries d JOIN webhooks w ON w.no = d.webhook_no WHERE state = 'due' AND status = 'active' AND deleted_at IS NULL",
      );
      if (!row?.at || row.at.getTime() > limit) return false;
      clock.advance(Math.max(1, row.at.getTime() - clock.now()));
      return true;
    },
    async close() {
      if (closed) return;
      closed = true;
      await killWorkers();
      await harness.engine.stop();
      for (const worker of workers) await closeDatabase(worker);
      await admin.end();
      await closeDatabase(db);
    },
  };

  for (const group of ['group', 'other-group'])
    await admin.query(
      `INSERT INTO practice_groups (id, name, timezone, opening_hours, created_at, updated_at)
       VALUES ($1, $1, 'Europe/London', '{}', now(), now())`,
      [group],
    );
  await admin.query(
    `INSERT INTO partners (id, name, contact_email, status, created_at, updated_at)
     VALUES ('partner', 'Partner', 'dev@partner.example', 'verified', now(), now())`,
  );
  for (const [index, group] of ['group', 'other-group'].entries())
    await admin.query(
      `INSERT INTO api_keys (id, partner_id, practice_group_id, key_hash, prefix, last_four, scopes, created_at)
       VALUES ($1, 'partner', $2, $3, 'ptr_test_', 'last', '{events:read}', now())`,
      [`key-${index}`, group, randomBytes(32)],
    );

  afterwards(() => harness.close());
  return harness;
}
