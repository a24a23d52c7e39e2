import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Config } from './config.ts';
import { startEmbedded } from './embedded.ts';
import type { Order, Question, ToChild, ToParent } from './parent.ts';
import { systemClock } from './platform/clock.ts';
import { type Logger, passLines } from './platform/logger.ts';
import { countersOf, mergeMetrics } from './platform/merged-metrics.ts';
import { RateLimits } from './runtime/rate-limits.ts';

/**
 * The service as several processes. Each is a node like those on other machines, on the same database. This one, their parent, has the port
 * and gives connections out in turns (node:cluster), looks after the embedded PostgreSQL, counts calls where memory counts them, passes the
 * lines of all on into one log, starts another one for one that ended, and stops them all. It answers no call, so that nothing that a caller
 * sends can bring it down.
 *
 * Some carry the post, the others keep the door: each worker looks for events and is woken for them, which would cost as often as there
 * are workers, and a burst of deliveries keeps no call waiting.
 *
 * If it is killed, the port is gone with it: the others finish what they have begun, and end.
 */

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
/** A PostgreSQL that is not there by then is left to the next start. */
const START_MS = 5_000;
/** They finish within ten seconds. One that does not is ended. */
const STOP_MS = 12_000;
/** One that does not tell its metrics in time is left out. */
const METRICS_MS = 1_000;

/** One that has served for so long is well. */
const STEADY_MS = 60_000;
const PAUSE_MS = 100;
const PAUSE_MAX_MS = 5_000;
const EARLY_ENDS_MAX = 6;

const WORKERS_MAX = 2;

/** What each of them does. Of two, both keep the door, so that there is one when the other has ended. */
export function rolesOf({ role, processes }: Pick<Config, 'role' | 'processes'>): Config['role'][] {
  if (role !== 'all') return Array.from({ length: processes }, () => role);
  if (processes === 2) return ['all', 'api'];
  const workers = Math.min(WORKERS_MAX, Math.floor(processes / 3));
  return Array.from({ length: processes }, (_, place) => (place < workers ? 'worker' : 'api'));
}

/** How long to wait before another one is started. `earlyEnds`: so many in a row were never well. */
export function pauseAfter(earlyEnds: number): number {
  return earlyEnds <= 1 ? 0 : Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (earlyEnds - 2));
}

/** Processes that end again and again are given up. Not while one of them is well: its callers are served. */
export function isHopeless(earlyEnds: number, servedMs: readonly number[]): boolean {
  return earlyEnds >= EARLY_ENDS_MAX && servedMs.every((ms) => ms < STEADY_MS);
}

/** Whether one that was told to stop has failed. Ended by the signal itself, which Ctrl-C sends to all at once, it had not begun yet. */
export function hasFailed({ code, signal }: End): boolean {
  return code !== 0 && signal !== 'SIGTERM' && signal !== 'SIGINT';
}

interface End {
  code: number | null;
  signal: NodeJS.Signals | null;
}

interface Surroundings {
  log: Logger;
  /** For lines of the others, as they are. */
  pass(line: string): unknown;
  say(text: string): unknown;
  isTerminal: boolean;
  cwd: string;
  stop: AbortSignal;
}

interface Child {
  worker: Worker;
  url: string | undefined;
  /** By the monotonic clock. */
  servingSince: number | undefined;
  /** Resolves when it serves, or has ended. */
  settled: Promise<unknown>;
  ended: Promise<End>;
  /** As it told them last, and who waits for them. */
  metrics: string;
  asked: (() => void)[];
}

/** Serves until it is to stop, and resolves to the exit code. */
export async function serveByProcesses(config: Config, surroundings: Surroundings): Promise<number> {
  const { log, say, stop } = surroundings;
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: MAIN, args: [], silent: true, cwd: surroundings.cwd });
  const starting = config.databaseUrl ? undefined : startEmbedded(config, log);
  const late = aborted(stop).then(() => systemClock.sleep(START_MS));
  const embedded = (await Promise.race([starting, late])) ?? undefined;
  if (starting && !embedded) {
    log.info({ signal: stop.reason }, 'stopped while it was starting');
    return 0;
  }
  const postgres = embedded && { url: embedded.url, serviceUrl: embedded.serviceUrl };
  const givenUp = new AbortController();
  const end = AbortSignal.any([stop, givenUp.signal]);
  const ending = aborted(end);
  const children = new Set<Child>();
  const metrics = metricsOf(children);
  let code = 0;

  const limits = new RateLimits(systemClock);
  const roles = rolesOf(config);
  const listens = (role: Config['role']) => role !== 'worker' || config.role === 'worker';
  const doors = roles.filter(listens).length;
  let url: string | undefined;

  const answer = (question: Question): unknown =>
    question.about === 'metrics'
      ? metrics.all()
      : question.calls.map(({ who, limit }) => limits.take(who, limit));

  const begin = (place: number, isFirst: boolean): Child => {
    const role = roles[place] ?? config.role;
    const order: Order = {
      role,
      listens: listens(role),
      doors,
      url,
      isFirst,
      isLeading: place === 0,
      isTerminal: surroundings.isTerminal,
      postgres,
    };
    const child = fork(order, surroundings, answer);
    children.add(child);
    void child.ended.then(() => {
      children.delete(child);
      metrics.keep(child);
    });
    return child;
  };

  /** From one child to the next, until the end. */
  const keepUp = async (first: Child, place: number): Promise<void> => {
    let child = first;
    for (let earlyEnds = 0; ; ) {
      const ended = await child.ended;
      if (end.aborted) {
        if (hasFailed(ended)) code = 1;
        return;
      }
      const isEarly = servedMs(child) < STEADY_MS;
      earlyEnds = isEarly ? earlyEnds + 1 : 0;
      log.error(
        { pid: child.worker.process.pid, ...ended, ends: earlyEnds },
        'a process ended; another one follows',
      );
      if (isHopeless(earlyEnds, Array.from(children, servedMs))) {
        say('\nPorter gives up: its processes end again and again. The log says how.\n');
        log.fatal({ ends: earlyEnds }, 'processes end again and again: given up');
        code = 1;
        return givenUp.abort();
      }
      await Promise.race([systemClock.sleep(pauseAfter(earlyEnds)), ending]);
      if (end.aborted) return;
      child = begin(place, false);
    }
  };

  try {
    if (end.aborted) return 0;
    // The first one migrates, and says what is wrong if anything is. It is one that listens, if any does.
    const last = roles.length - 1;
    const first = begin(last, true);
    await Promise.race([first.settled, ending]);
    url = first.url;
    if (first.servingSince === undefined && !end.aborted) return (await first.ended).code ?? 1;
    const kept = [keepUp(first, last)];
    if (!end.aborted)
      for (let place = 0; place < last; place++) kept.push(keepUp(begin(place, false), place));

    await ending;
    log.info({ signal: stop.reason }, 'stopping');
    const killAll = (signal: NodeJS.Signals) => {
      for (const { worker } of children) worker.process.kill(signal);
    };
    killAll('SIGTERM');
    const cancel = systemClock.timer(STOP_MS, () => killAll('SIGKILL'));
    await Promise.all(kept);
    cancel();
    return code;
  } finally {
    await embedded?.stop();
    log.info({}, 'stopped');
  }
}

function fork(order: Order, { pass, say }: Surroundings, answer: (question: Question) => unknown): Child {
  const worker = cluster.fork();
  const { process } = worker;
  if (process.stdout) passLines(process.stdout, pass);
  if (process.stderr) passLines(process.stderr, say);
  const serves = new Promise<void>((resolve) => {
    worker.on('message', async (message: ToParent) => {
      if (message.kind === 'hello') tell(child, { kind: 'order', order });
      else if (message.kind === 'ask')
        tell(child, { kind: 'answer', id: message.id, answer: await answer(message.question) });
      else if (message.kind === 'metrics') {
        child.metrics = message.text;
        for (const told of child.asked.splice(0)) told();
      } else {
        child.url = message.url;
        child.servingSince = systemClock.monotonic();
        resolve();
      }
    });
  });
  // Of one that could not even be started there is an error and no end.
  const ended = new Promise<End>((resolve) => {
    process.once('close', (code, signal) => resolve({ code, signal }));
    worker.once('error', () => resolve({ code: null, signal: null }));
  });
  const child: Child = {
    worker,
    url: undefined,
    servingSince: undefined,
    settled: Promise.race([serves, ended]),
    ended,
    metrics: '',
    asked: [],
  };
  return child;
}

function tell({ worker }: Child, message: ToChild): void {
  if (worker.isConnected()) worker.send(message, () => {});
}

function servedMs({ servingSince }: Child): number {
  return servingSince === undefined ? 0 : systemClock.monotonic() - servingSince;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** The metrics of all of them as those of one service. */
function metricsOf(children: ReadonlySet<Child>) {
  /** What those have counted that are no more. */
  let before = '';
  const own = () =>
    `# TYPE porter_process_resident_bytes gauge\nporter_process_resident_bytes ${process.memoryUsage.rss()}\n`;

  return {
    keep({ metrics }: Child): void {
      before = mergeMetrics([before, countersOf(metrics)]);
    },
    async all(): Promise<string> {
      const told = Array.from(children, (child) => {
        tell(child, { kind: 'tell metrics' });
        return new Promise<void>((resolve) => child.asked.push(resolve));
      });
      await Promise.race([Promise.all(told), systemClock.sleep(METRICS_MS)]);
      const texts = Array.from(children, ({ metrics }) => metrics);
      return mergeMetrics([...texts, before, own()]);
    },
  };
}
