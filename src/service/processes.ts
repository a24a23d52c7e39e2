import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LEASE_MS } from '../domain/events/lane.ts';
import { systemClock } from '../platform/clock.ts';
import { type Logger, passLines } from '../platform/logger.ts';
import { countersOf, mergeMetrics } from '../platform/merged-metrics.ts';
import { RateLimits } from '../runtime/access/rate-limits.ts';
import type { Config } from './config.ts';
import { startEmbedded } from './embedded.ts';
import type { Order, Question, ToChild, ToParent } from './parent.ts';

/**
 * The service as several processes.
 *
 * NOUNS. The parent is this process. It holds the port, the embedded PostgreSQL and the log, and it answers no request, so no request can bring it
 * down. A child is a process that the parent started. Each child is a node like the nodes on other machines, on the same database. A place
 * is a position with a role (`rolesOf`): one child at a time fills it. A deliverer is a child whose role is not `api`. There are few deliverers,
 * because each of them looks for events and is woken for events. If there are three places or more, deliverers answer no requests, so a burst of
 * deliveries keeps no request waiting.
 *
 * HOW. The parent gives connections to the children in turns (node:cluster). It counts requests where memory counts them, merges the metrics,
 * and writes the lines of all children into one log. The first child migrates the database. When it serves, the parent fills the other
 * places. Every `PING_MS` the parent pings each child over IPC, and a child answers while its event loop runs. On SIGTERM the parent stops all
 * children, and kills each child that still runs after `STOP_MS`.
 *
 * FAILURES, and what each one leaves behind:
 *   A child ends. Its connections break, and its deliveries are due again. The parent fills the place again. If the child had served for less than a
 * minute, a pause comes first, which doubles with each early end (`pauseAfter`). The other places work on. Only when every place fails like
 * this, the service ends with code 1 (`isHopeless`).
 *   A child hangs. It answers no ping, so the parent kills it when its leases are over (`PINGS_MAX`). Then it is a child that ended. A child that
 * hangs before its code is loaded has a minute.
 *   No deliverer answers. After `DELIVERER_MS` the children that answer requests are not ready. Every child reports the queue, and the alerts come from
 * the database, so both show what waits. The gauges of a child that does not answer are left out; its counters are kept.
 *   The first child cannot start. It says why and exits, and the service ends with its code. If a signal ended it, it is a child that ended.
 *   The parent hangs. Children finish open connections, deliver, and answer 503 where they need the parent. New connections wait. The
 * supervisor sees that `/healthz` does not answer and restarts the service.
 *   The parent is killed. The port is gone with it. The children finish their requests and deliveries, and end.
 */

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
/** If PostgreSQL has not started by then, the next start continues. */
const START_MS = 5_000;
/** Children finish within ten seconds. The parent kills a child that takes longer: a child that hangs must not keep the service from stopping. */
const STOP_MS = 12_000;
/** The gauges of a child that takes longer are left out. */
const METRICS_MS = 1_000;

const PING_MS = 2_000;
/** Pings without an answer until a child is killed. Pings are counted, not seconds: after the whole group stood still, all children answer. */
const PINGS_MAX = LEASE_MS / PING_MS;
/** The same for a child that has not answered at all, whose code is being loaded. */
const FIRST_PINGS_MAX = 60_000 / PING_MS;
/** A deliverer that crashed is replaced sooner than this. */
const DELIVERER_MS = 10_000;

/** A child that has served for this long is well. */
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

/** Returns the pause before the place is filled again. `earlyEnds`: how many children in a row ended there before they were well. */
export function pauseAfter(earlyEnds: number): number {
  return earlyEnds <= 1 ? 0 : Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** (earlyEnds - 2));
}

export interface Place {
  role: Config['role'];
  earlyEnds: number;
  child?: Pick<Child, 'servingSince'> | undefined;
}

/** Whether in every place the children end again and again. While one child serves well, its callers or its deliveries are served. */
export function isHopeless(places: readonly Place[], now: number): boolean {
  return places.every((place) => place.earlyEnds >= EARLY_ENDS_MAX && servedMs(place, now) < STEADY_MS);
}

function servedMs({ child }: Place, now: number): number {
  return child?.servingSince === undefined ? 0 : now - child.servingSince;
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
  role: Config['role'];
  url: string | undefined;
  /** By the monotonic clock. */
  servingSince: number | undefined;
  serves: Promise<void>;
  ended: Promise<End>;
  /** Whether its code is loaded. */
  hasAnswered: boolean;
  /** Pings since its last answer. */
  unanswered: number;
  /** The metrics that it reported last, and callbacks for the next report. */
  metrics: string;
  asked: (() => void)[];
}

/** Serves until it is to stop, and resolves to the exit code. */
export async function serveByProcesses(config: Config, surroundings: Surroundings): Promise<number> {
  const { log, say, stop } = surroundings;
  cluster.schedulingPolicy = cluster.SCHED_RR;
  cluster.setupPrimary({ exec: MAIN, args: [], silent: true, cwd: surroundings.cwd });
  // A Ctrl-C reaches initdb as well, which then fails. The next start makes the database.
  const failed = (error: unknown) => {
    if (!stop.aborted) throw error;
  };
  const starting = config.databaseUrl ? undefined : startEmbedded(config, log).catch(failed);
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
  const places: Place[] = rolesOf(config).map((role) => ({ role, earlyEnds: 0 }));
  const listens = (role: Config['role']) => role !== 'worker' || config.role === 'worker';
  const doors = places.filter(({ role }) => listens(role)).length;
  const shouldDeliver = places.some(({ role }) => role !== 'api');
  const opened = Promise.withResolvers<void>();
  let url: string | undefined;
  let deliveredAt = Number.NEGATIVE_INFINITY;

  const answer = (question: Question): unknown => {
    if (question.about === 'metrics') return metrics.all();
    if (question.about === 'rates') return question.calls.map(({ who, limit }) => limits.take(who, limit));
    return !shouldDeliver || systemClock.monotonic() - deliveredAt < DELIVERER_MS;
  };

  const begin = (place: Place): Child => {
    const { role } = place;
    const order: Order = {
      role,
      listens: listens(role),
      doors,
      url,
      isFirst: url === undefined,
      isLeading: place === places[0],
      isTerminal: surroundings.isTerminal,
      postgres,
    };
    const child = fork(order, surroundings, {
      question: answer,
      answered: () => {
        if (role !== 'api' && child.servingSince !== undefined) deliveredAt = systemClock.monotonic();
      },
    });
    place.child = child;
    children.add(child);
    void child.ended.then(() => {
      children.delete(child);
      metrics.keep(child);
    });
    void child.serves.then(() => {
      url ??= child.url;
      opened.resolve();
    });
    return child;
  };

  /** Fills the place whenever its child has ended, until the service ends. */
  const keepUp = async (place: Place): Promise<void> => {
    for (;;) {
      const child = begin(place);
      const ended = await child.ended;
      if (end.aborted) {
        if (hasFailed(ended)) code = 1;
        return;
      }
      if (url === undefined && ended.code !== null) {
        // The first child could not start, and has said why.
        code = ended.code;
        return givenUp.abort();
      }
      const now = systemClock.monotonic();
      place.earlyEnds = servedMs(place, now) < STEADY_MS ? place.earlyEnds + 1 : 0;
      place.child = undefined;
      const pause = pauseAfter(place.earlyEnds);
      log.error(
        { ...nameOf(child), ...ended, ends: place.earlyEnds, pause_ms: pause },
        'a process ended; another one follows',
      );
      // Before the first child serves, no other place is filled.
      if (isHopeless(url === undefined ? [place] : places, now)) {
        say('\nPorter gives up: its processes end again and again. The log says how.\n');
        log.fatal({ ends: place.earlyEnds }, 'processes end again and again: given up');
        code = 1;
        return givenUp.abort();
      }
      await Promise.race([systemClock.sleep(pause), ending]);
      if (end.aborted) return;
    }
  };

  try {
    if (end.aborted) return 0;
    keepPinging(children, log, end);
    // The first one migrates, and says what is wrong if anything is. It is one that listens, if any does.
    const [first, ...others] = places.toReversed() as [Place, ...Place[]];
    const kept = [keepUp(first)];
    await Promise.race([opened.promise, ending]);
    if (!end.aborted) kept.push(...others.map(keepUp));

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

/** Kills a child that hangs. `keepUp` then fills its place. */
function keepPinging(children: ReadonlySet<Child>, log: Logger, end: AbortSignal): void {
  const ping = () => {
    for (const child of children) {
      if (child.unanswered < (child.hasAnswered ? PINGS_MAX : FIRST_PINGS_MAX)) {
        child.unanswered++;
        tell(child, { kind: 'ping' });
        continue;
      }
      log.error({ ...nameOf(child), unanswered: child.unanswered }, 'a process hangs; it is killed');
      child.worker.process.kill('SIGKILL');
    }
    if (!end.aborted) systemClock.timer(PING_MS, ping);
  };
  ping();
}

const nameOf = ({ role, worker }: Child) => ({ role, pid: worker.process.pid });

interface Listener {
  question(question: Question): unknown;
  /** The child has answered a ping. */
  answered(): void;
}

function fork(order: Order, { pass, say }: Surroundings, listener: Listener): Child {
  const worker = cluster.fork();
  const { process } = worker;
  if (process.stdout) passLines(process.stdout, pass);
  if (process.stderr) passLines(process.stderr, say);
  const serves = Promise.withResolvers<void>();
  worker.on('message', async (message: ToParent) => {
    child.hasAnswered = true;
    child.unanswered = 0;
    if (message.kind === 'hello') tell(child, { kind: 'order', order });
    else if (message.kind === 'pong') listener.answered();
    else if (message.kind === 'ask')
      tell(child, { kind: 'answer', id: message.id, answer: await listener.question(message.question) });
    else if (message.kind === 'metrics') {
      child.metrics = message.text;
      for (const told of child.asked.splice(0)) told();
    } else {
      child.url = message.url;
      child.servingSince = systemClock.monotonic();
      listener.answered();
      serves.resolve();
    }
  });
  // Of one that could not even be started there is an error and no end.
  const ended = new Promise<End>((resolve) => {
    process.once('close', (code, signal) => resolve({ code, signal }));
    worker.once('error', () => resolve({ code: null, signal: null }));
  });
  const child: Child = {
    worker,
    role: order.role,
    url: undefined,
    servingSince: undefined,
    serves: serves.promise,
    ended,
    hasAnswered: false,
    unanswered: 0,
    metrics: '',
    asked: [],
  };
  return child;
}

function tell({ worker }: Child, message: ToChild): void {
  if (worker.isConnected()) worker.send(message, () => {});
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Merges the metrics of all children. */
function metricsOf(children: ReadonlySet<Child>) {
  /** The counters of children that have ended. */
  let before = '';
  const own = () =>
    `# TYPE porter_process_resident_bytes gauge\nporter_process_resident_bytes ${process.memoryUsage.rss()}\n`;

  return {
    keep({ metrics }: Child): void {
      before = mergeMetrics([before, countersOf(metrics)]);
    },
    async all(): Promise<string> {
      const told = new Set<Child>();
      const asked = Array.from(children, (child) => {
        tell(child, { kind: 'tell metrics' });
        return new Promise<void>((resolve) => child.asked.push(resolve)).then(() => told.add(child));
      });
      await Promise.race([Promise.all(asked), systemClock.sleep(METRICS_MS)]);
      // A gauge of a child that hangs would look healthy for as long as it hangs.
      const texts = Array.from(children, (child) =>
        told.has(child) ? child.metrics : countersOf(child.metrics),
      );
      return mergeMetrics([...texts, before, own()]);
    },
  };
}
