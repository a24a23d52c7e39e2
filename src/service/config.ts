import { isAbsolute, resolve } from 'node:path';
import type { ApprovalKind, Environment } from '../contract/access.ts';
import { listOf } from '../domain/access/address-list.ts';
import { IDLE_MINUTES_MIN, type SessionLimits } from '../domain/access/session.ts';
import type { AlertThresholds } from '../domain/oversight/alerts.ts';
import { type CertificateSource, certificateSources } from '../http/client-certificate.ts';
import { isLoopback } from '../http/transport.ts';
import type { Reach, Targets } from '../platform/egress/ssrf-guard.ts';
import type { MailServer, MailSettings } from '../platform/mail.ts';
import { MASTER_KEY_BYTES } from '../platform/sealing.ts';
import { readTelemetry, type TelemetrySettings } from '../platform/telemetry.ts';
import { hostsOf } from '../store/hosts.ts';
import type { Retention } from '../store/oversight/retention.ts';
import { thisMachine, usualProcesses } from './machine.ts';
import { isOnThisMachine, unsafeInProduction } from './production.ts';
import { approvals, readOidc, type SignInSettings } from './sign-in-settings.ts';

/** The settings of the service: every name, its default and its limits are here. (The command line looks for two of them by itself.) */
export interface Config {
  environment: Environment;
  host: string;
  port: number;
  /** The login that the service works as. */
  databaseUrl: string | undefined;
  /** The login that owns the tables, where that is another one. */
  migrationDatabaseUrl: string | undefined;
  dataDir: string;
  /** Where traces and metrics go, if anybody asked for them. */
  telemetry: TelemetrySettings | undefined;
  operatorToken: string | undefined;
  tls: { certFile: string; keyFile: string } | undefined;
  trustProxy: string[];
  /** How it learns which client certificate a call came with. */
  clientCertificates: CertificateSource;
  /** How many connections callers may hold open: all together, and from one address. */
  connections: { total: number; perAddress: number };
  demo: boolean;
  probes: 'loopback' | 'anywhere';
  /** The public addresses of the two deployments, as the OpenAPI document names them. */
  baseUrls: { production: string; staging: string };
  /** The two webhook servers, as the AsyncAPI document names them. */
  webhookUrls: { production: string; staging: string };
  /** Where partners turn to: an e-mail address, or a page. */
  supportContact: string;
  /** The addresses that webhooks are sent from, as partners may let them in; none: they are not told. */
  webhookSenders: string[];
  /** Undefined: nobody is mailed. */
  mail: MailSettings | undefined;
  alertThresholds: AlertThresholds;
  /** This deployment's own public address, when it was configured. */
  ownUrl: string | undefined;
  /** Seals the secrets of webhooks; without one, the service makes its own in the data folder. */
  masterKey: Buffer | undefined;
  /** What these sealed is sealed anew at the start. */
  previousMasterKeys: Buffer[];
  webhookTargets: Reach;
  /** Where webhooks of the operator's own may go: there, and into these networks. */
  operatorTargets: Targets;
  /** What this process does: answer calls, deliver events, or both. */
  role: 'all' | 'api' | 'worker';
  /** As how many processes it runs. */
  processes: number;
  /** Where calls are counted: in this process, or for all nodes together in PostgreSQL. */
  rateWindows: 'memory' | 'shared';
  retention: Retention;
  /** Through whom people sign in to the console; undefined: with tokens. */
  oidc: SignInSettings | undefined;
  /** What waits for a second person. */
  approvals: ApprovalKind[];
  /** How long somebody stays signed in to the console. */
  sessions: SessionLimits;
  /** Where the anchors of the audit are given out to. */
  auditAnchors: { file: string | undefined; url: string | undefined; everyMs: number };
  /** Every setting that was asked for. */
  settings: readonly TakenSetting[];
}

/** A setting as it was read: the text that was set, or the default as text. */
export interface TakenSetting {
  name: string;
  /** Undefined: nothing is set, and there is no default. */
  text: string | undefined;
  isSet: boolean;
}

export class ConfigError extends Error {}

type Env = Record<string, string | undefined>;

export function readConfig(env: Env, workingFolder: string, machine = thisMachine()): Config {
  const problems: string[] = [];
  const settings: TakenSetting[] = [];
  const read = <T>(name: string, fallback: T, parse: (text: string) => T): T => {
    const text = env[name]?.trim();
    settings.push({ name, text: text || asText(fallback), isSet: Boolean(text) });
    if (!text) return fallback;
    try {
      return parse(text);
    } catch (error) {
      problems.push(`${name}: ${error instanceof Error ? error.message : error}`);
      return fallback;
    }
  };

  const environment = read('PORTER_ENVIRONMENT', 'staging', oneOf('staging', 'production'));
  const production = environment === 'production';
  // On a database of its own there is no other node.
  const isAlone = !env.DATABASE_URL?.trim();
  const certFile = read('PORTER_TLS_CERT', undefined, path(workingFolder));
  const keyFile = read('PORTER_TLS_KEY', undefined, path(workingFolder));
  if ((certFile === undefined) !== (keyFile === undefined))
    problems.push('PORTER_TLS_CERT and PORTER_TLS_KEY: set both or neither');

  const smtp = read('PORTER_SMTP_URL', undefined, mailServer);
  const from = read('PORTER_MAIL_FROM', undefined, mailFrom);
  if ((smtp === undefined) !== (from === undefined))
    problems.push('PORTER_SMTP_URL and PORTER_MAIL_FROM: set both or neither');

  const config: Config = {
    settings,
    environment,
    telemetry: readOtel(env, problems),
    host: read('PORTER_HOST', '127.0.0.1', (text) => text),
    port: read('PORTER_PORT', 8080, port),
    databaseUrl: read('DATABASE_URL', undefined, postgresUrl),
    migrationDatabaseUrl: read('PORTER_MIGRATION_DATABASE_URL', undefined, postgresUrl),
    dataDir: read('PORTER_DATA_DIR', resolve(workingFolder, '.porter'), path(workingFolder)),
    operatorToken: read('PORTER_OPERATOR_TOKEN', undefined, (text) => operatorToken(text, production)),
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : undefined,
    trustProxy: read('PORTER_TRUST_PROXY', [], addresses),
    clientCertificates: read('PORTER_CLIENT_CERTIFICATES', 'off', oneOf(...certificateSources)),
    connections: {
      total: read('PORTER_CONNECTIONS_MAX', 4_096, connectionCount),
      perAddress: read('PORTER_CONNECTIONS_PER_ADDRESS_MAX', 256, connectionCount),
    },
    demo: read('PORTER_DEMO', production ? 'off' : 'on', oneOf('on', 'off')) === 'on',
    probes: read('PORTER_PROBES', 'loopback', oneOf('loopback', 'anywhere')),
    baseUrls: {
      production: read('PORTER_BASE_URL', 'https://api.porter.example', webUrl),
      staging: read('PORTER_STAGING_BASE_URL', 'https://staging.api.porter.example', webUrl),
    },
    webhookUrls: {
      production: read('PORTER_WEBHOOKS_URL', 'https://webhooks.porter.example', webUrl),
      staging: read('PORTER_STAGING_WEBHOOKS_URL', 'https://staging.webhooks.porter.example', webUrl),
    },
    supportContact: read('PORTER_SUPPORT_CONTACT', 'support@porter.example', supportContact),
    webhookSenders: read('PORTER_WEBHOOK_SENDERS', [], addresses),
    mail: smtp && from ? { server: smtp, from } : undefined,
    alertThresholds: {
      partnerWaitingDays: read('PORTER_ALERT_PARTNER_WAITING_DAYS', 7, upTo('days', 365)),
      lateMinutes: read('PORTER_ALERT_LATE_MINUTES', 90, upTo('minutes', 7 * 24 * 60)),
      ehrDownMinutes: read('PORTER_ALERT_EHR_DOWN_MINUTES', 30, upTo('minutes', 7 * 24 * 60)),
      changesPendingMinutes: read('PORTER_ALERT_CHANGES_PENDING_MINUTES', 60, upTo('minutes', 7 * 24 * 60)),
    },
    ownUrl: undefined,
    masterKey: read('PORTER_MASTER_KEY', undefined, masterKey),
    previousMasterKeys: read('PORTER_MASTER_KEY_PREVIOUS', [], masterKeys),
    webhookTargets: 'public',
    operatorTargets: 'public',
    role: read('PORTER_ROLE', 'all', oneOf('all', 'api', 'worker')),
    processes: 1,
    rateWindows: read('PORTER_RATE_WINDOWS', isAlone ? 'memory' : 'shared', oneOf('memory', 'shared')),
    retention: {
      events: read('PORTER_RETENTION_DAYS', 30, retentionDays),
      formSubmissions: read('PORTER_FORM_SUBMISSION_DAYS', 400, retentionDays),
      writeToRecordJobs: read('PORTER_JOB_DAYS', 400, retentionDays),
      endedKeys: read('PORTER_ENDED_KEY_DAYS', 800, retentionDays),
      accessLog: read('PORTER_ACCESS_LOG_DAYS', 400, retentionDays),
      alerts: read('PORTER_ALERT_DAYS', 400, retentionDays),
      endedChanges: read('PORTER_CHANGE_DAYS', 400, retentionDays),
      usage: read('PORTER_USAGE_DAYS', 800, retentionDays),
    },
    oidc: readOidc(read, production, problems),
    approvals: read('PORTER_APPROVALS', [], approvals),
    sessions: {
      idleMs: 60_000 * read('PORTER_SESSION_IDLE_MINUTES', 30, between('minutes', IDLE_MINUTES_MIN, 24 * 60)),
      absoluteMs: 3_600_000 * read('PORTER_SESSION_HOURS', 12, between('hours', 1, 7 * 24)),
    },
    auditAnchors: {
      file: read('PORTER_AUDIT_ANCHOR_FILE', undefined, path(workingFolder)),
      url: read('PORTER_AUDIT_ANCHOR_URL', undefined, webUrl),
      everyMs: 60_000 * read('PORTER_AUDIT_ANCHOR_MINUTES', ANCHOR_MINUTES_DEFAULT, anchorMinutes),
    },
  };
  if (config.retention.endedKeys < config.retention.accessLog)
    problems.push(
      'PORTER_ENDED_KEY_DAYS: must not be less than PORTER_ACCESS_LOG_DAYS, whose entries name keys that are over',
    );
  if (config.clientCertificates === 'tls' && !config.tls)
    problems.push('PORTER_CLIENT_CERTIFICATES: "tls" needs PORTER_TLS_CERT and PORTER_TLS_KEY');
  if (config.clientCertificates.startsWith('x-') && config.trustProxy.length === 0)
    problems.push(
      'PORTER_CLIENT_CERTIFICATES: a header is believed of the proxies in PORTER_TRUST_PROXY only',
    );
  const usual = usualProcesses(machine, !config.databaseUrl || isOnThisMachine(config.databaseUrl));
  config.processes = read('PORTER_PROCESSES', usual, between('processes', 1, PROCESSES_MAX));
  config.webhookTargets = read('PORTER_WEBHOOK_TARGETS', usualTargets(config), targets(production));
  config.operatorTargets = read('PORTER_OPERATOR_TARGETS', config.webhookTargets as Targets, (text) => ({
    reach: config.webhookTargets,
    networks: listOf(addresses(text)),
  }));
  if (production && !env.PORTER_MASTER_KEY?.trim())
    problems.push('PORTER_MASTER_KEY: is required in production; make one with `openssl rand -base64 32`');
  if (config.migrationDatabaseUrl && isAlone)
    problems.push(
      'PORTER_MIGRATION_DATABASE_URL: is of use only with DATABASE_URL, the login of the service',
    );
  if (production) problems.push(...unsafeInProduction(config));
  if (env[production ? 'PORTER_BASE_URL' : 'PORTER_STAGING_BASE_URL']?.trim())
    config.ownUrl = config.baseUrls[environment];
  if (production && config.oidc && !config.ownUrl)
    problems.push('PORTER_BASE_URL: is required with PORTER_OIDC_ISSUER; people come back to it');
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return config;
}

function asText(fallback: unknown): string | undefined {
  if (Array.isArray(fallback)) return fallback.length > 0 ? fallback.join(', ') : undefined;
  return typeof fallback === 'string' || typeof fallback === 'number' ? String(fallback) : undefined;
}

function oneOf<const T extends string>(...allowed: T[]): (text: string) => T {
  return (text) => {
    const found = allowed.find((value) => value === text);
    if (!found) throw new Error(`"${text}" is not one of ${allowed.join(', ')}`);
    return found;
  };
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > 65_535) throw new Error(`"${text}" is not a port`);
  return value;
}

function path(workingFolder: string): (text: string) => string {
  return (text) => (isAbsolute(text) ? text : resolve(workingFolder, text));
}

function postgresUrl(text: string): string {
  const { username, password, pathname } = new URL(hostsOf(text).urls[0]);
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
  } catch {
    throw new Error('has a % that is not an escape; write a % in a password as %25');
  }
  return text;
}

function webUrl(text: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new Error(`"${text}" is not a web address`);
  return text.replace(/\/+$/, '');
}

function addresses(text: string): string[] {
  const entries = text.split(/[\s,]+/).filter(Boolean);
  listOf(entries);
  return entries;
}

const TOKEN_LENGTH_MIN = 24;

function operatorToken(text: string, production: boolean): string {
  if (!/^[!-~]+$/.test(text)) throw new Error('must hold only visible ASCII characters, and no white space');
  if (production && text.length < TOKEN_LENGTH_MIN)
    throw new Error(`must have at least ${TOKEN_LENGTH_MIN} characters in production`);
  return text;
}

const MAIL_ADDRESS = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*$/;

function supportContact(text: string): string {
  if (MAIL_ADDRESS.test(text)) return text;
  if (text.startsWith('https://') && URL.canParse(text)) return text;
  throw new Error(`"${text}" is neither an e-mail address nor an https address of a page`);
}

/** `alerts@porter.example`, or with a name: `Porter <alerts@porter.example>`. */
function mailFrom(text: string): MailSettings['from'] {
  const [, name = '', address = text] = /^([^<>"\r\n]*)<([^<>]*)>$/.exec(text) ?? [];
  if (!MAIL_ADDRESS.test(address)) throw new Error(`"${text}" is not an e-mail address`);
  return { name: name.trim() || 'Porter', address };
}

const SMTP_PORTS: Record<string, number> = { 'smtp:': 587, 'smtps:': 465 };

/** Told without a character of it, for it may hold a password. */
function mailServer(text: string): MailServer {
  const url = URL.parse(text);
  const port = url ? SMTP_PORTS[url.protocol] : undefined;
  if (!url || port === undefined || !url.hostname)
    throw new Error('must be smtp://user:password@host:587 or smtps://user:password@host:465');
  if (url.search || url.hash || (url.pathname !== '' && url.pathname !== '/'))
    throw new Error('takes no path and no options after the host');
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const part = (text: string) => (text === '' ? undefined : unescaped(text));
  return {
    host,
    port: url.port === '' ? port : Number(url.port),
    isTls: url.protocol === 'smtps:',
    isLocal: host === 'localhost' || isLoopback(host),
    user: part(url.username),
    password: part(url.password),
  };
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('has a % that is not an escape; write a % in a password as %25');
  }
}

const upTo = (unit: string, max: number) => between(unit, 1, max);

function between(unit: string, min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new Error(`"${text}" is not a number of ${unit} from ${min} to ${max}`);
    return value;
  };
}

const PROCESSES_MAX = 64;
const RETENTION_DAYS_MAX = 3_650;

function retentionDays(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > RETENTION_DAYS_MAX)
    throw new Error(`"${text}" is not a number of days from 1 to ${RETENTION_DAYS_MAX}`);
  return value;
}

const CONNECTIONS_MAX = 1_000_000;

function connectionCount(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > CONNECTIONS_MAX)
    throw new Error(`"${text}" is not a number of connections from 1 to ${CONNECTIONS_MAX}`);
  return value;
}

/** This machine is a target only where nobody else can call the service: then whoever registers a webhook sits before it. */
function usualTargets({ environment, host, tls, trustProxy }: Config): Reach {
  const isOnesOwn = host === 'localhost' || isLoopback(host);
  return environment === 'staging' && isOnesOwn && !tls && trustProxy.length === 0 ? 'loopback' : 'public';
}

const ANCHOR_MINUTES_DEFAULT = 60;
const ANCHOR_MINUTES_MAX = 24 * 60;

function anchorMinutes(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > ANCHOR_MINUTES_MAX)
    throw new Error(`"${text}" is not a number of minutes from 1 to ${ANCHOR_MINUTES_MAX}`);
  return value;
}

function targets(production: boolean): (text: string) => Reach {
  return (text) => {
    const found = oneOf('public', 'loopback')(text);
    if (production && found === 'loopback') throw new Error('"loopback" is for staging only');
    return found;
  };
}

/** What is wrong with a key is told without a character of it. */
export function masterKey(text: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/]{43}=$/.test(text)) return Buffer.from(text, 'base64');
  throw new Error(`must be ${MASTER_KEY_BYTES} random bytes, written in base64 or hex`);
}

function masterKeys(text: string): Buffer[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(masterKey);
}

function readOtel(env: Env, problems: string[]): TelemetrySettings | undefined {
  try {
    return readTelemetry(env);
  } catch (error) {
    problems.push(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
