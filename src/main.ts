import { banner } from './banner.ts';
import { type Service, startEmbedded, startService } from './compose.ts';
import { ConfigError, readConfig } from './config.ts';
import { buildConsoleOnce } from './console.ts';
import { systemClock } from './platform/clock.ts';
import { createLogger, lineWriter, redact } from './platform/logger.ts';
import { prepareDatabase } from './store/migrate.ts';

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
}

/** A start that is not done by then is left where it is: the next one goes on from there. */
const START_MS = 5_000;

/** Serves until it is to stop, and resolves to the exit code. */
export async function serve({ env, cwd, say, isTerminal, stop, ...start }: Start): Promise<number> {
  const log = createLogger((line) => start.log(line));
  const stopped = new Promise<void>((resolve) =>
    stop.addEventListener('abort', () => resolve(), { once: true }),
  );
  let service: Service | undefined;
  try {
    const config = readConfig(env, cwd);
    const starting = startService(config, { log });
    service = (await Promise.race([starting, stopped.then(() => systemClock.sleep(START_MS))])) ?? undefined;
    if (!service) {
      log.info({ signal: stop.reason }, 'stopped while it was starting');
      return 0;
    }
    buildConsoleOnce(log);
    // The banner comes last: whoever reads it may send a signal at once.
    if (!stop.aborted || service.firstOperatorToken) say(banner(config, service, isTerminal));
    if (!stop.aborted) await stopped;
    log.info({ signal: stop.reason }, 'stopping');
    await service.stop();
    log.info({}, 'stopped');
    return 0;
  } catch (error) {
    say(`\nPorter ${service ? 'did not stop in order' : 'cannot start'}. ${explained(error)}\n`);
    return 1;
  }
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
  const code = await serve({
    env: process.env,
    cwd: process.cwd(),
    log: lineWriter(process.stdout),
    say: (text) => process.stderr.write(text),
    isTerminal: process.stderr.isTTY === true,
    stop: stop.signal,
  });
  process.exit(code);
}
