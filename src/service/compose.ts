import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { WRITE_THROUGH_MS } from '../contract/operator/practices/write-through.ts';
import { newId } from '../domain/ids.ts';
import { createServer } from '../http/server.ts';
import { readTls, renewTls } from '../http/tls.ts';
import { ensureFirstOperator } from '../operations/access/operators.ts';
import type { App, Deployment } from '../operations/app.ts';
import { ensureSigningKey, publicSigningKeys, resealSigningKeys } from '../operations/events/signing-keys.ts';
import { resealSecrets } from '../operations/events/webhook-secrets.ts';
import { gatherOperations } from '../operations/gathered.ts';
import { Bell } from '../platform/bell.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { createEgress } from '../platform/egress/egress.ts';
import { createTryAddress } from '../platform/egress/try-address.ts';
import type { Logger } from '../platform/logger.ts';
import { createMailer } from '../platform/mail.ts';
import { nodeName } from '../platform/node-name.ts';
import { createOidc } from '../platform/oidc.ts';
import { pooledRandomBytes } from '../platform/random.ts';
import { remembered } from '../platform/remembered.ts';
import { Semaphore } from '../platform/semaphore.ts';
import { createAccess } from '../runtime/access/access.ts';
import { Assertions } from '../runtime/access/assertions.ts';
import { KeyUses } from '../runtime/access/key-uses.ts';
import { RateLimits, SharedRateLimits } from '../runtime/access/rate-limits.ts';
import { Strangers } from '../runtime/access/strangers.ts';
import { gatherEvents } from '../runtime/events/event-acceptance.ts';
import { OpenStreams } from '../runtime/events/event-streams.ts';
import { queueMetrics } from '../runtime/events/queue-metrics.ts';
import { AccessLog } from '../runtime/oversight/access-log.ts';
import { Alerts } from '../runtime/oversight/alerts.ts';
import { AuditAnchors } from '../runtime/oversight/audit-anchors.ts';
import { AuditVerification } from '../runtime/oversight/audit-verification.ts';
import { Figures } from '../runtime/oversight/figures.ts';
import { Live } from '../runtime/oversight/live.ts';
import { NodeHeartbeats } from '../runtime/oversight/nodes.ts';
import { Refusals } from '../runtime/oversight/refusals.ts';
import { beat } from '../runtime/oversight/uptime.ts';
import { Usage } from '../runtime/oversight/usage.ts';
import { gatherUpdates } from '../runtime/practices/submission-type-updates.ts';
import { WriteThrough } from '../runtime/practices/write-through.ts';
import { Readiness } from '../runtime/readiness.ts';
import { createConsole } from '../site/console.ts';
import { createSite } from '../site/site.ts';
import { closeDatabase, type Database, openDatabase } from '../store/database.ts';
import { beginTimeline } from '../store/events/event-feed.ts';
import type { HandOverPoint } from '../store/events/hand-over.ts';
import { SharedClock } from '../store/shared-clock.ts';
import type { Config } from './config.ts';
import { startDelivering } from './delivering.ts';
import { demoKey, keepFile } from './demo.ts';
import { startEmbedded } from './embedded.ts';
import { addressOf, cannotListen, finish } from './listen.ts';
import { type Keys, makeKeys } from './master-key.ts';
import type { Parent } from './parent.ts';
import { prepare } from './prepare.ts';
import { describeSettings } from './settings.ts';

/** The whole service, put together. The parts know nothing of each other's making; this file knows all of it. */
export interface Service {
  app: App;
  alerts: Alerts;
  server: Server;
  /** Where it listens, such as http://127.0.0.1:8080. */
  url: string;
  /** Made on the first start, and told until somebody has used it. */
  firstOperatorToken: string | undefined;
  demoKey: string | undefined;
  /** Finishes what has begun, then closes everything. */
  stop(): Promise<void>;
}

export interface Surroundings {
  log: Logger;
  clock?: Clock;
  /** Aborted when the service is to stop, which ends a start that waits for its database. */
  stop?: AbortSignal;
  random?: (count: number) => Uint8Array;
  /** The process that has started this one, with others like it. */
  parent?: Pick<Parent, 'order' | 'limits' | 'shareMetrics' | 'delivers'> | undefined;
}

const { version: VERSION } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
) as { version: string };

const CONNECTIONS_MAX = 10;
/** Of one of several processes: if it answers calls, and if it does not. Many nodes share what a server has. */
const SHARE_OF_CONNECTIONS = { door: 6, worker: 4 };
const ONE_LOGIN =
  'the login of the service owns its tables: whoever takes it over can alter them, the audit too; let another one own them (PORTER_MIGRATION_DATABASE_URL)';
const NO_DELIVERER =
  'No process of this node that delivers events answers. Porter starts another one; the log says why the last one ended.';
const NOBODY_MAILED =
  'nobody is mailed about alerts: set PORTER_SMTP_URL and PORTER_MAIL_FROM, or watch GET /operator/v1/alerts';
/** Replays that go on at a time: each takes one of the connections. */
const REPLAYS_AT_ONCE = 2;
/** Transactions that wait for what somebody else has locked, likewise. */
const WAITING_AT_ONCE = 3;
/** The delivery engine puts in (events, and changes), takes out, writes down and listens, each on a connection of its own. */
const WORKER_CONNECTIONS = 5;
/** Requests and deliveries under way get this long to finish; with closing the database it stays within ten seconds. */
const FINISH_MS = 7_500;
/** A statement that is still running then is left to PostgreSQL, which ends it when it notices that nobody listens. */
const CLOSE_MS = 1_500;

export async function startService(config: Config, surroundings: Surroundings): Promise<Service> {
  const { log, parent, stop, random = pooledRandomBytes() } = surroundings;
  const clock = new SharedClock(surroundings.clock ?? systemClock, log);
  const tls = config.tls && readTls(config.tls);
  const undo: (() => Promise<unknown>)[] = [];
  // What is said or done once for all of several processes.
  const isLeading = parent?.order.isLeading !== false;
  try {
    const started = config.databaseUrl || parent ? undefined : await startEmbedded(config, log);
    if (started) undo.push(() => started.stop());
    const embedded = parent ? parent.order.postgres : started;
    const urls = {
      url: config.databaseUrl ?? embedded?.serviceUrl ?? '',
      ownerUrl: config.migrationDatabaseUrl ?? embedded?.url,
    };

    const keys = await makeKeys(config, random);
    const { sealer } = keys;

    const seeded: Seeded = { firstOperatorToken: undefined, demoKey: undefined };
    const seedOnce = async (db: Database) => {
      await clock.begin(db);
      await beginTimeline(db);
      const resealed = await resealSecrets(db, sealer, new Date(clock.now()).toISOString());
      await resealSigningKeys(db, sealer, new Date(clock.now()).toISOString());
      if (resealed > 0) log.info({ resealed, key_id: sealer.keyId }, 'webhook secrets sealed anew');
      // A node that only delivers answers no first call. Among several processes, one that does is for all of them.
      const hasDemo = config.demo && (config.role !== 'worker' || parent?.order.listens === false);
      const app = assemble(config, db, { log, clock, random, parent }, keys);
      Object.assign(seeded, await seed({ ...config, demo: hasDemo }, app));
    };
    const { role, onlyLogin, url } = await prepare(urls, seedOnce, { clock, log, stop });
    if (onlyLogin !== undefined && isLeading) log.warn({ login: onlyLogin, role }, ONE_LOGIN);

    const worker = config.role !== 'api';
    const share = SHARE_OF_CONNECTIONS[parent?.order.role === 'worker' ? 'worker' : 'door'];
    const connectionsMax = (parent ? share : CONNECTIONS_MAX) + (worker ? WORKER_CONNECTIONS : 0);
    const db = openDatabase({ url, connectionsMax, role });
    const app = assemble(config, db, { log, clock, random, parent }, keys);
    const stopReading = clock.follow(db);
    const close = async () => {
      stopReading();
      await app.writeThrough.close();
      await Promise.all([
        app.refusals.flush(),
        app.keyUses.close(),
        app.usage.close(),
        app.figures.close(),
        app.accessLog.close(),
      ]);
      await closeDatabase(db);
    };
    undo.push(() => Promise.race([close(), clock.sleep(CLOSE_MS)]));
    const telemetry =
      config.telemetry &&
      (await import('../platform/opentelemetry.ts')).startTelemetry(config.telemetry, nodeName());
    if (telemetry) undo.push(() => telemetry.stop());

    let engine: ReturnType<typeof startDelivering> | undefined;
    let signs: NodeHeartbeats | undefined;
    let listening = '';
    let stopping = false;
    const readiness = new Readiness(db, clock);
    const queue = queueMetrics(db, clock);
    const ownUrl = () => config.ownUrl ?? listening;
    const docsUrl = () => `${ownUrl()}/docs`;
    const alerts = new Alerts({
      ...app,
      log,
      thresholds: config.alertThresholds,
      mailer: config.mail && createMailer(config.mail),
      docsUrl,
      support: config.supportContact,
      enterUrl: () => `${ownUrl()}/console/enter`,
    });
    if (!config.mail && config.environment === 'production' && isLeading) log.warn({}, NOBODY_MAILED);
    const server = createServer({
      app,
      log,
      environment: config.environment,
      tls,
      trustProxy: config.trustProxy,
      clientCertificates: config.clientCertificates,
      ownUrl,
      connections: parent ? shareOf(config.connections, parent.order.doors) : config.connections,
      pool: db.pool,
      shareMetrics: parent?.shareMetrics,
      servesApi: config.role !== 'worker',
      moreMetrics: async () => clock.metrics() + ((await engine?.metrics()) ?? ''),
      serviceMetrics: async () => (await Promise.all([alerts.metrics(), queue()])).join(''),
      probes: {
        exposed: config.probes,
        ready: async () => {
          if (stopping) return false;
          if (parent && !(await parent.delivers())) return NO_DELIVERER;
          return clock.fault() ?? readiness.isReady();
        },
      },
      docsUrl,
      site: createSite(config, ownUrl),
      telemetry,
      console: createConsole(),
      // Anybody may ask, as often as they like.
      webhookKeys: remembered(clock, () => publicSigningKeys(app)),
    });
    undo.push(() => {
      const late = clock.sleep(FINISH_MS);
      app.streams.endAll();
      app.live.endAll();
      return Promise.all([
        finish(server, late),
        engine?.stop(late),
        // A message that is on its way by then is sent again by another node, and a node that says nothing is taken off the list.
        Promise.race([Promise.all([alerts.stop(), signs?.stop()]), late]),
      ]);
    });
    if (config.tls) {
      const stopRenewing = renewTls(config.tls, server, clock, log);
      undo.push(async () => stopRenewing());
    }
    listening = parent?.order.url ?? '';
    if (parent?.order.listens !== false) {
      server.listen({ host: config.host, port: config.port });
      await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
        throw cannotListen(error, config);
      });
      listening = addressOf(server, config);
    }
    if (seeded.demoKey) await keepFile(join(config.dataDir, 'url'), listening);
    if (config.role !== 'worker') {
      const stopBeating = beat(db, clock);
      undo.push(async () => stopBeating());
    }
    // Last: a service that cannot start sends nothing.
    if (worker) engine = startDelivering(app, log, () => clock.fault() === undefined, telemetry);
    alerts.start();
    signs = new NodeHeartbeats(
      { ...app, skewMs: () => clock.skewMs() },
      {
        id: app.deployment.nodeId,
        name: nodeName(),
        version: VERSION,
        role: config.role,
        started_at: new Date(clock.now()).toISOString(),
      },
    );
    signs.start();
    const { auditAnchors } = config;
    if ((auditAnchors.file ?? auditAnchors.url) && isLeading)
      undo.push(startAnchoring(app, auditAnchors, log));

    let stopped: Promise<void> | undefined;
    return {
      app,
      alerts,
      server,
      url: listening,
      ...seeded,
      stop: () => {
        stopping = true;
        stopped ??= runAll(undo);
        return stopped;
      },
    };
  } catch (error) {
    await runAll(undo).catch(() => {});
    throw error;
  }
}

/** Connections are given out in turns, so each process takes as many. */
function shareOf({ total, perAddress }: Config['connections'], doors: number): Config['connections'] {
  return { total: Math.ceil(total / doors), perAddress: Math.ceil(perAddress / doors) };
}

/** All of it, last first: a step that fails must not keep the others from being done. */
async function runAll(undo: (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of undo.reverse()) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Returns how it is stopped. */
function startAnchoring(app: App, places: Config['auditAnchors'], log: Logger): () => Promise<void> {
  const egress = createEgress({ targets: app.webhookTargets });
  const anchors = new AuditAnchors({ ...app, log, post: egress.post }, places);
  anchors.start();
  return async () => {
    // What is on its way ends with it; there is a next time.
    await egress.close();
    await anchors.stop();
  };
}

function assemble(
  config: Config,
  db: Database,
  {
    log,
    clock,
    random,
    parent,
  }: Required<Omit<Surroundings, 'parent' | 'stop'>> & Pick<Surroundings, 'parent'>,
  masterKeys: Keys,
): App {
  const access = createAccess(db, clock, config.environment, config.sessions);
  const counted = parent?.limits ?? new RateLimits(clock);
  const keys = config.rateWindows === 'shared' ? new SharedRateLimits(db, clock) : counted;
  const newChanges = new Bell(clock);
  const handOver: HandOverPoint = {};
  const waiting = new Semaphore(WAITING_AT_ONCE);
  const updates = gatherUpdates({ db, clock, changed: () => newChanges.ring() });
  const writeThrough = new WriteThrough({
    db,
    access,
    clock,
    random,
    sealer: masterKeys.sealer,
    egress: createEgress({ targets: config.operatorTargets, timeoutMs: WRITE_THROUGH_MS }),
    changed: () => newChanges.ring(),
  });
  const refusals = new Refusals(db, clock, log);
  const assertions = new Assertions(db, clock);
  const keyUses = new KeyUses(db, clock, log);
  const figures = new Figures(db, clock, log);
  const usage = new Usage(db, clock, log, figures);
  const accessLog = new AccessLog(db, clock, log, random);
  const streams = new OpenStreams(db, clock, log, accessLog);
  const live = new Live(db, clock, log);
  const { environment, webhookTargets, operatorTargets, retention } = config;
  return {
    db,
    clock,
    random,
    environment,
    people: config.oidc && { ...config.oidc, provider: createOidc(config.oidc) },
    access,
    limits: { keys, operators: counted, guests: counted },
    strangers: new Strangers(clock, log),
    updates,
    events: gatherEvents(db, clock, handOver, waiting),
    gathered: gatherOperations(db, { clock, random }, waiting),
    handOver,
    writeThrough,
    refusals,
    accessLog,
    assertions,
    keyUses,
    usage,
    figures,
    takesCertificates: config.clientCertificates !== 'off',
    streams,
    live,
    sendsMail: config.mail !== undefined,
    deployment: {
      ...deploymentOf(config),
      nodeId: newId('nde', clock.now(), random),
      settings: describeSettings(config),
    },
    replays: new Semaphore(REPLAYS_AT_ONCE),
    ...masterKeys,
    auditVerification: new AuditVerification(db, clock),
    webhookTargets,
    tryAddress: createTryAddress('public'),
    operatorTargets,
    newChanges,
    retention,
  };
}

function deploymentOf({
  supportContact: support_contact,
  oidc,
  approvals,
}: Config): Omit<Deployment, 'nodeId' | 'settings'> {
  return { version: VERSION, sign_in: oidc ? 'oidc' : 'token', approvals, support_contact };
}

interface Seeded {
  firstOperatorToken: string | undefined;
  demoKey: string | undefined;
}

async function seed(config: Config, app: App): Promise<Seeded> {
  const firstOperatorToken = await ensureFirstOperator(app, config.operatorToken);
  await ensureSigningKey(app);
  return { firstOperatorToken, demoKey: config.demo ? await demoKey(config, app) : undefined };
}
