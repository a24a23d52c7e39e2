import { once } from 'node:events';
import { systemClock } from '../platform/clock.ts';
import { createLogger, type Logger, lineWriter, redact } from '../platform/logger.ts';
import { nodeName } from '../platform/node-name.ts';
import { prepareDatabase } from '../store/migrate.ts';
import type { Service } from './compose.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { startEmbedded } from './embedded.ts';
import { checkPort } from './listen.ts';
import { findParent, type Parent } from './parent.ts';

/** What the service and its migrations are started with. */
export interface Start {
  env: Record<string, string | undefined>;
  cwd: string;
  /** Log lines. */
  log(line: string): unknown;
  /** Words for people. */
  say(text: string): unknown;
  /** Whether they are read on a terminal, or end up in a file. */
  isTerminal: boolean;
  /** Aborted with the name of a signal when the service is to stop. */
  stop: AbortSignal;
  /** Of a process that is one of several. */
  parent?: Parent | undefined;
}

/** A start that is not done by then is left where it is: the next one goes on from there. */
const START_MS = 5_000;

/** Serves until it is to stop, and resolves to the exit code. */
export async function serve(start: Start): Promise<number> {
  const code = await serveUntilStopped(start);
  if (code === 0 && !start.parent) start.say('Stopped.\n');
  return code;
}

async function serveUntilStopped(start: Start): Promise<number> {
  const { env, cwd, say, stop, parent } = start;
  let hasStarted = false;
  try {
    const config = readConfig(env, cwd);
    if (parent) config.role = parent.order.role;
    const isOneOfSeveral = config.processes > 1;
    const log = createLogger((line) => start.log(line), isOneOfSeveral ? nodeName() : undefined);
    if (!parent) await checkPort(config);
    if (isOneOfSeveral && !parent) {
      const { serveByProcesses } = await import('./processes.ts');
      return await serveByProcesses(config, { ...start, log, pass: start.log });
    }
    const stopped = aborted(stop);
    const { startService } = await import('./compose.ts');
    // A Ctrl-C reaches initdb as well, which then fails. The next start makes the database.
    const starting = startService(config, { log, parent, stop }).catch((error) => {
      if (!stop.aborted) throw error;
      return undefined;
    });
    const service = await Promise.race([starting, stopped.then(() => systemClock.sleep(START_MS))]);
    if (!service) {
      log.info({ signal: stop.reason }, 'stopped while it was starting');
      return 0;
    }
    hasStarted = true;
    parent?.serving(service.url);
    if (!parent || parent.order.isFirst) await greet(config, service, start, log);
    await stopped;
    log.info({ signal: stop.reason }, 'stopping');
    await service.stop();
    log.info({}, 'stopped');
    return 0;
  } catch (error) {
    say(`\nPorter ${hasStarted ? 'did not stop in order' : 'cannot start'}. ${explained(error)}\n`);
    return 1;
  }
}

async function aborted(stop: AbortSignal): Promise<void> {
  if (!stop.aborted) await once(stop, 'abort');
}

async function greet(config: Config, service: Service, { say, stop, isTerminal }: Start, log: Logger) {
  const { buildConsoleOnce } = await import('./console.ts');
  buildConsoleOnce(log);
  // The banner comes last: whoever reads it may send a signal at once.
  const { banner } = await import('./banner.ts');
  if (!stop.aborted || service.firstOperatorToken) say(banner(config, service, isTerminal));
}

/** Brings the database up to date without serving, and resolves to the names of the migrations that it applied. */
export async function migrate({ env, cwd, log }: Pick<Start, 'env' | 'cwd' | 'log'>): Promise<string[]> {
  const config = readConfig(env, cwd);
  const logger = createLogger((line) => log(line));
  if (config.databaseUrl)
    return (await prepareDatabase(config.databaseUrl, async () => {}, config.migrationDatabaseUrl)).applied;
  const embedded = await startEmbedded(config, logger);
  try {
    return (await prepareDatabase(embedded.serviceUrl, async () => {}, embedded.url)).applied;
  } finally {
    await embedded.stop();
  }
}

/** What an operator can mend is told in one sentence; a stack trace is for what only a developer can. */
export function explained(error: unknown): string {
  const reason = error instanceof ConfigError ? `The configuration is not usable:\n${error.message}` : error;
  const told = reason instanceof Error ? (isExpected(reason) ? reason.message : reason.stack) : reason;
  return redact(String(told));
}

function isExpected(error: Error): boolean {
  return error.constructor !== TypeError && error.constructor !== RangeError && !('severity' in error);
}

if (import.meta.main) {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort(signal));
  // Whoever collects the log may end, or its disk be full: partners are served without it, and each line is tried anew.
  process.stdout.once('error', ({ message }) => {
    process.stderr.write(`\nThe log cannot be written (${message}). Porter goes on.\n`);
  });
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const parent = await findParent(() => stop.abort('the parent is gone'));
  const code = await serve({
    env: process.env,
    cwd: process.cwd(),
    log: lineWriter(process.stdout),
    say: (text) => process.stderr.write(text),
    isTerminal: parent?.order.isTerminal ?? process.stderr.isTTY === true,
    stop: stop.signal,
    parent,
  });
  process.exit(code);
}
