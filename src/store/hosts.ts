import pg from 'pg';

/**
 * PostgreSQL's own way to name several servers: `postgres://user:password@one:5432,two:5432/porter?target_session_attrs=read-write`. The driver knows one
 * server only, so each new connection goes to the servers in turn until one takes writes, beginning with the one that did last.
 */
export interface Hosts {
  /** One for each server, as the driver reads it. */
  urls: readonly [string, ...string[]];
  /** A statement that tells, as `refuses`, whether a session is none of those wanted; undefined when any will do. */
  check: string | undefined;
  /** Where they are and the name of the database, without user and password. */
  place: string;
}

const URL_PARTS = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)([^?#]*)(\?[^#]*)?$/;
const SESSION_ATTRS = 'target_session_attrs';
const CHECKS: Record<string, string | undefined> = {
  any: undefined,
  primary: 'SELECT pg_is_in_recovery() AS refuses',
  'read-write': "SELECT current_setting('transaction_read_only')::boolean AS refuses",
};

/** Throws an error whose message continues "DATABASE_URL: …". */
export function hostsOf(url: string): Hosts {
  const [, before, hosts = '', path = '', query = ''] = URL_PARTS.exec(url) ?? [];
  if (before === undefined) throw new Error('must look like postgres://user:password@host:5432/database');
  const options = new URLSearchParams(query);
  const names = hosts.split(',');
  // Whoever names several means the one that takes writes: Porter has no use for another.
  const attrs = options.get(SESSION_ATTRS) ?? (names.length > 1 ? 'read-write' : 'any');
  if (!Object.hasOwn(CHECKS, attrs))
    throw new Error(
      `${SESSION_ATTRS}=${attrs} is of no use, because Porter writes: set it to ${Object.keys(CHECKS).join(', ')} or leave it out`,
    );
  // Only this one is taken out: what the driver reads must stay as it was written.
  const rest = query
    .slice(1)
    .split('&')
    .filter((option) => option !== '' && !option.startsWith(`${SESSION_ATTRS}=`))
    .join('&');
  const urlOf = (name: string) => before + name + path + (rest && `?${rest}`);
  const [first = '', ...others] = names;
  for (const name of names)
    if ((name === '' && names.length > 1) || !URL.canParse(urlOf(name)))
      throw new Error(`must look like postgres://user:password@host:5432/database, but "${name}" is no host`);
  return { urls: [urlOf(first), ...others.map(urlOf)], check: CHECKS[attrs], place: hosts + path };
}

/** Throws unless the session is one of those wanted. */
export async function refuseSession(client: pg.ClientBase, check: string | undefined): Promise<void> {
  if (check === undefined) return;
  const { rows } = await client.query<{ refuses: boolean }>(check);
  if (rows[0]?.refuses) throw new TakesNoWrites('it takes no writes: it is a standby, or read-only');
}

/** The server answers, and may take writes once it is promoted. */
export class TakesNoWrites extends Error {}

/** None of the servers can be used; `reasons` has the error of each. */
export class NoHost extends Error {
  readonly reasons: readonly unknown[];

  constructor(message: string, reasons: readonly unknown[]) {
    super(message);
    this.reasons = reasons;
  }
}

/** The same servers in turns: `turn` 1 begins with the second one. */
export function rotated(url: string, turn: number): string {
  const [, before = '', hosts = '', path = '', query = ''] = URL_PARTS.exec(url) ?? [];
  const names = hosts.split(',');
  const first = turn % names.length;
  return before + [...names.slice(first), ...names.slice(0, first)].join(',') + path + query;
}

/** For a server that accepts statements and never answers. */
const ANSWER_MS = 11_000;

/** A connection outside any pool. With one server, what that one said is thrown as it is. */
export async function openClient(url: string, connectionTimeoutMillis: number): Promise<pg.Client> {
  const { urls, check } = hostsOf(url);
  const refusals: string[] = [];
  const reasons: unknown[] = [];
  for (const connectionString of urls) {
    const client = new pg.Client({
      connectionString,
      connectionTimeoutMillis,
      query_timeout: ANSWER_MS,
    });
    client.on('error', () => {});
    try {
      await client.connect();
      await refuseSession(client, check);
      return client;
    } catch (error) {
      // Not awaited: a server that hangs closes no connection.
      client.end().catch(() => {});
      if (urls.length === 1 && check === undefined) throw error;
      reasons.push(error);
      refusals.push(`${hostsOf(connectionString).place}: ${reasonOf(error)}`);
    }
  }
  throw new NoHost(refusals.join('; '), reasons);
}

export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || String((error as { code?: string }).code);
}
