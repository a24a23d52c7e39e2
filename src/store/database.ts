import pg from 'pg';
import type { Principal } from '../domain/access/principal.ts';
import { Outage } from '../platform/outage.ts';
import { type AuditRecord, appendAudit } from './audit-append.ts';
import {
  isOnlyFull,
  isOnlyLate,
  isUndoneByServer,
  outage,
  refusesWrites,
  translate,
} from './database-errors.ts';
import { type Hosts, hostsOf, refuseSession } from './hosts.ts';
import { SCHEMA_VERSION } from './migrate.ts';
import type { Sender } from './sql-functions.ts';
import { typeParsers } from './type-parsers.ts';

/**
 * The one way to PostgreSQL. Statements are sent ahead without waiting for the answers before them (pipelining), so a
 * transaction costs the round trips that its decisions need and no more: BEGIN and the tenant's name travel with the
 * first query, the audit entries and COMMIT with the last.
 */
export interface Database {
  pool: pg.Pool;
  hosts: Hosts;
  /** The connection that `queued` keeps, once it was needed. */
  kept?: Promise<pg.PoolClient> | undefined;
}

export interface DatabaseOptions {
  /** It may name several servers: see hosts.ts. */
  url: string;
  connectionsMax: number;
  /** Statements run as this role when given; see `enterRole` in migrate.ts. */
  role?: string | undefined;
}

const CONNECT_MS = 3_000;
/** Signing in takes both sides milliseconds of work: what is needed again soon is kept. */
const IDLE_MS = 300_000;
const STATEMENT_MS = 10_000;
export const LOCK_MS = 5_000;

export function openDatabase({ url, connectionsMax, role }: DatabaseOptions): Database {
  const hosts = hostsOf(url);
  const pool = new pg.Pool({
    connectionString: hosts.urls[0],
    max: connectionsMax,
    pipeline: true,
    application_name: `porter ${SCHEMA_VERSION}`,
    connectionTimeoutMillis: CONNECT_MS,
    idleTimeoutMillis: IDLE_MS,
    // For a server that accepts statements but never answers: longer than its own limit, so that one speaks first.
    query_timeout: STATEMENT_MS + 1_000,
    types: typeParsers,
    onConnect: async (client) => {
      await Promise.all([client.query(sessionSettings(role)), refuseSession(client, hosts.check)]);
    },
  });
  // A connection that dies says so here, idle or in use. What it was doing fails by itself, and the next query opens
  // another; without a listener the event would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return { pool, hosts };
}

/**
 * Said by statements, once on each connection, and not as it is opened: poolers refuse what they do not know there, or forget it,
 * and then times would be another zone's and a superuser bound by nothing.
 */
function sessionSettings(role: string | undefined): string {
  return [
    "SET TimeZone = 'UTC'",
    // No statement runs long enough for compiling its plan to pay, and before 18 a server compiles every plan that makes do
    // with what it was told to avoid.
    'SET jit = off',
    `SET statement_timeout = ${STATEMENT_MS}`,
    `SET lock_timeout = ${LOCK_MS}`,
    `SET idle_in_transaction_session_timeout = ${STATEMENT_MS}`,
    ...(role ? [`SET ROLE ${role}`] : []),
  ].join('; ');
}

export async function closeDatabase(db: Database): Promise<void> {
  const kept = await db.kept?.catch(() => undefined);
  db.kept = undefined;
  kept?.release();
  await db.pool.end();
}

type Values = readonly unknown[];

const IN_FAILED_TRANSACTION = '25P02';

/** A transaction on behalf of somebody: what it can see was settled when it began. */
export class Transaction {
  readonly #client: pg.PoolClient;
  readonly #answers: Promise<pg.QueryResult>[] = [];
  readonly #audit: AuditRecord[] = [];

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  async query<Row extends object>(text: string, values: Values = []): Promise<Row[]> {
    return (await this.#send(text, values)).rows as Row[];
  }

  async first<Row extends object>(text: string, values: Values = []): Promise<Row | undefined> {
    return (await this.query<Row>(text, values))[0];
  }

  /** Sends a statement whose rows nobody needs. It travels with COMMIT, and the transaction fails if it does. */
  defer(text: string, values: Values = []): void {
    this.#send(text, values);
  }

  #send(text: string, values: Values): Promise<pg.QueryResult> {
    const answer = send(this.#client, text, values);
    answer.catch(() => {});
    this.#answers.push(answer);
    return answer;
  }

  /** The same for functions of the database. */
  readonly deferred: Sender = {
    query: async (text, values) => {
      this.defer(text, values);
      return [];
    },
  };

  /** Every change says who made it and what it was; the entries are appended last (src/sql/oversight/audit_append.sql says why). */
  audit(...records: AuditRecord[]): void {
    this.#audit.push(...records);
  }

  async commit(): Promise<void> {
    const [first, ...others] = this.#audit;
    if (first) appendAudit(this.deferred, [first, ...others]);
    const committed = send(this.#client, 'COMMIT');
    committed.catch(() => {});
    // In order: the first statement that failed says why; those after it only that the transaction was aborted.
    for (const answer of this.#answers) await answer;
    if ((await committed).command !== 'COMMIT')
      throw new Error('the transaction was rolled back by the server');
  }

  /** For what is undone before it ends: what that would put into the audit goes with it. */
  part(): Transaction {
    return new Transaction(this.#client);
  }

  /** Waits for all that was sent: what failed is told here, and not only when it is committed. */
  async flush(): Promise<void> {
    for (const answer of this.#answers) await answer;
  }

  /**
   * Of an error that only tells that an earlier statement failed: the error of that one. It may have been sent without waiting for
   * it, or together with this one, and be told later.
   */
  async causeOf(error: unknown): Promise<unknown> {
    if (!(error instanceof pg.DatabaseError) || error.code !== IN_FAILED_TRANSACTION) return error;
    const failed = (await Promise.allSettled(this.#answers)).find(({ status }) => status === 'rejected');
    return failed?.status === 'rejected' ? failed.reason : error;
  }
}

/** What becomes of rows that somebody else has locked. */
export type IfLocked = 'wait' | 'pass over';

export const skipping = (ifLocked: IfLocked) => (ifLocked === 'wait' ? '' : 'SKIP LOCKED');

/** Sends statements that are each a transaction by itself, on any connection. */
export function alone(db: Database): Sender {
  return { query: (text, values) => statement(db, text, values) };
}

/** The same, one after the other. */
export function inTurn(db: Database): Sender {
  return { query: (text, values) => queued(db, text, values) };
}

/**
 * One statement that is a transaction by itself. It says for whom it acts in its own way: the function that it calls
 * sets `porter.tenant` before it touches a table.
 */
export async function statement<Row extends object>(
  db: Database,
  text: string,
  values: Values,
): Promise<Row[]> {
  const run = async () => {
    const client = await connect(db);
    try {
      const { rows } = await send(client, text, values);
      client.release();
      return rows as Row[];
    } catch (error) {
      client.release(error instanceof Outage && !isOnlyLate(error));
      throw error;
    }
  };
  return retried(run);
}

/**
 * The same on a connection that is kept for it: nothing is looked for and given back, and a statement is there before
 * the one ahead of it is answered. They run one after the other, each a transaction by itself.
 */
function queued<Row extends object>(db: Database, text: string, values: Values): Promise<Row[]> {
  return retried(async () => {
    db.kept ??= openKept(db);
    const kept = db.kept;
    try {
      return (await send(await kept, text, values)).rows as Row[];
    } catch (error) {
      if (error instanceof Outage && !isOnlyLate(error)) dropKept(db, kept);
      throw error;
    }
  });
}

function openKept(db: Database): Promise<pg.PoolClient> {
  const kept = connect(db);
  // One that ends while nothing is under way is replaced as well.
  kept.then((client) => client.once('end', () => dropKept(db, kept))).catch(() => {});
  return kept;
}

/** The next statement opens another. What is still under way on this one fails: its connection is gone. */
function dropKept(db: Database, kept: Promise<pg.PoolClient>): void {
  if (db.kept !== kept) return;
  db.kept = undefined;
  kept.then((client) => client.release(true)).catch(() => {});
}

const TRIES_MAX = 3;

/**
 * Runs `work` in a transaction that sees only what the principal may see. `work` decides and writes; it must have no
 * effect outside the transaction, because it runs again when PostgreSQL undoes it: to break a deadlock, or because what it points to
 * was removed meanwhile.
 */
export async function transact<T>(
  db: Database,
  principal: Principal | readonly Principal[],
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const whole = wholes.get(principal);
  if (whole) return partOf(whole, work);
  return retried(() => transactOnce(db, tenantOf(principal), partnerOf(principal), work));
}

/** The transactions of which others become parts, by the principal on whose behalf. */
const wholes = new WeakMap<Principal | readonly Principal[], Transaction>();

/**
 * The same, and whatever `work` does with `transact` on behalf of this very object becomes part of this transaction: it is committed
 * with it, or not at all.
 */
export function transactAsOne<T>(
  db: Database,
  principal: Principal,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return retried(() =>
    transactOnce(db, tenantOf(principal), partnerOf(principal), async (tx) => {
      wholes.set(principal, tx);
      try {
        return await work(tx);
      } finally {
        wholes.delete(principal);
      }
    }),
  );
}

/**
 * Runs `work` in a transaction that is rolled back; `work` must act for the principal that it is given. Where a transaction is under way for the
 * principal, it is a part of that one. With a connection of its own for each, ten calls at once had all that there are, and waited for ten more.
 */
export function rehearse<P extends Principal>(
  db: Database,
  principal: P,
  work: (principal: P) => Promise<unknown>,
): Promise<void> {
  const whole = wholes.get(principal);
  const own = whole ? principal : { ...principal };
  return transact(db, own, async (tx) => {
    tx.defer('SAVEPOINT rehearsal');
    wholes.set(own, tx.part());
    try {
      await work(own);
    } finally {
      if (whole) wholes.set(own, whole);
      else wholes.delete(own);
    }
    tx.defer('ROLLBACK TO SAVEPOINT rehearsal');
  });
}

/** Its caller must hear of what failed here, as it would of a transaction by itself. */
async function partOf<T>(whole: Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
  try {
    const result = await work(whole);
    await whole.flush();
    return result;
  } catch (error) {
    throw await whole.causeOf(error);
  }
}

async function retried<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (attempt < TRIES_MAX && isUndoneByServer(error)) continue;
      throw error;
    }
  }
}

async function transactOnce<T>(
  db: Database,
  tenant: string,
  partner: string,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const client = await connect(db);
  const tx = new Transaction(client);
  try {
    tx.defer('BEGIN');
    tx.defer("SELECT set_config('porter.tenant', $1, true), set_config('porter.partner', $2, true)", [
      tenant,
      partner,
    ]);
    const result = await work(tx);
    await tx.commit();
    client.release();
    return result;
  } catch (error) {
    const cause = await tx.causeOf(error);
    // The caller need not wait for the clean-up. A connection that cannot even roll back is thrown away.
    client.query('ROLLBACK').then(
      () => client.release(refusesWrites(cause)),
      () => client.release(true),
    );
    throw cause;
  }
}

export function tenantOf(principal: Principal | readonly Principal[]): string {
  const all = 'kind' in principal ? [principal] : principal;
  return [...new Set(all.map(groupOf))].join(',');
}

/** People of a practice see the rows of their practice, those of a partner no practice's. */
function groupOf(principal: Principal): string {
  if (principal.kind === 'partner') return principal.group.id;
  return principal.kind === 'guest' ? (principal.practiceGroup?.id ?? '') : '*';
}

/** What belongs to a partner is reached by that partner alone; nothing of the kind is done for several at once. */
function partnerOf(principal: Principal | readonly Principal[]): string {
  if (!('kind' in principal)) return '';
  if (principal.kind === 'partner') return principal.holder.partnerId;
  return principal.kind === 'guest' ? (principal.partner?.id ?? '') : '';
}

/** A connection of the pool, to be released. Whatever keeps us from having one, it is not the caller's doing and may pass. */
export async function connect({ pool, hosts: { urls } }: Database): Promise<pg.PoolClient> {
  for (let left = urls.length; ; left--) {
    const tried = pool.options.connectionString ?? '';
    try {
      return await pool.connect();
    } catch (error) {
      if (left <= 1 || isOnlyFull(error)) throw outage(error);
      // The pool reads it whenever it opens a connection. Whoever failed at the same time may have moved on already.
      if (pool.options.connectionString === tried)
        pool.options.connectionString = urls[(urls.indexOf(tried) + 1) % urls.length];
    }
  }
}

/** Each distinct text is prepared once on each connection. The texts are constants of the source, so this is bounded. */
const statementNames = new Map<string, string>();

async function send(client: pg.PoolClient, text: string, values: Values = []): Promise<pg.QueryResult> {
  const name = statementNames.get(text) ?? `s${statementNames.size}`;
  statementNames.set(text, name);
  try {
    return await client.query({ name, text, values: values as unknown[] });
  } catch (error) {
    throw translate(error);
  }
}
