import { isIP } from 'node:net';

/** The settings that it looks at. */
interface Settings {
  trustProxy: readonly string[];
  masterKey: Buffer | undefined;
  operatorToken: string | undefined;
  demo: boolean;
  baseUrls: { production: string };
  webhookUrls: { production: string };
  databaseUrl: string | undefined;
  migrationDatabaseUrl: string | undefined;
}

/**
 * What is fit for trying things out and would be a hole in production. Each line names the variable and what to do, without a
 * character of any secret. The start is refused with all of them at once.
 */
export function unsafeInProduction(config: Settings): string[] {
  const found: [string, string | undefined][] = [
    ['PORTER_TRUST_PROXY', wideRange(config.trustProxy)],
    ['PORTER_MASTER_KEY', config.masterKey && guessableKey(config.masterKey)],
    [
      'PORTER_OPERATOR_TOKEN',
      config.operatorToken === undefined ? undefined : guessable(config.operatorToken),
    ],
    [
      'PORTER_DEMO',
      config.demo ? 'the demo world has no place in production; leave it out, or set it to off' : undefined,
    ],
    ['PORTER_BASE_URL', plainHttp(config.baseUrls.production)],
    ['PORTER_WEBHOOKS_URL', plainHttp(config.webhookUrls.production)],
    ['DATABASE_URL', unencrypted(config.databaseUrl)],
    ['PORTER_MIGRATION_DATABASE_URL', unencrypted(config.migrationDatabaseUrl)],
  ];
  return found.flatMap(([name, problem]) => (problem === undefined ? [] : [`${name}: ${problem}`]));
}

/** The widest ranges that are one organisation's own: 10.0.0.0/8 and fc00::/7. */
const PREFIX_MIN = { 4: 8, 6: 7 };

function wideRange(entries: readonly string[]): string | undefined {
  const wide = entries.filter((entry) => {
    const [address = '', prefix] = entry.split('/');
    return prefix !== undefined && Number(prefix) < PREFIX_MIN[isIP(address) === 6 ? 6 : 4];
  });
  if (wide.length === 0) return undefined;
  return `${wide.join(', ')} lets anybody say that a call came by HTTPS, and from where; name the addresses of your proxies`;
}

const BYTES_DIFFERENT_MIN = 16;

/** Of 32 random bytes about 30 differ; fewer than 16 would be a miracle, and so would be 32 that can all be typed, or each as far from the last. */
function guessableKey(key: Buffer): string | undefined {
  const step = (key[1] ?? 0) - (key[0] ?? 0);
  const isCounted = key.every(
    (byte, index) => index === 0 || ((byte - (key[index - 1] ?? 0) - step) & 0xff) === 0,
  );
  const isTyped = key.every((byte) => byte >= 0x20 && byte < 0x7f);
  if (new Set(key).size >= BYTES_DIFFERENT_MIN && !isCounted && !isTyped) return undefined;
  return 'can be guessed; make a random one with `openssl rand -base64 32`';
}

/** What people write where a secret is wanted. */
const WORDS =
  /pass(word|wort)?|secret|token|admin|operator|porter|root|user|change-?me|let-?me-?in|welcome|example|default|test|demo|staging|production|your|this|here|none|null|pto_|abc|xyz|qwertz?|asdf|(\d)\2+|0?123\d*|[-_.\s]/gi;
const CHARACTERS_LEFT_MIN = 16;
const CHARACTERS_DIFFERENT_MIN = 8;

/** By what is left without the words that anybody would try, and without repetitions. */
function guessable(token: string): string | undefined {
  const left = token.replaceAll(WORDS, '').replace(/(.+?)\1+/g, '$1');
  if (left.length >= CHARACTERS_LEFT_MIN && new Set(left).size >= CHARACTERS_DIFFERENT_MIN) return undefined;
  return 'can be guessed; make a random one with `echo pto_$(openssl rand -hex 20)`, or leave it out';
}

function plainHttp(url: string): string | undefined {
  return url.startsWith('https:') ? undefined : 'must be an https address in production';
}

const CHECKED_MODES = ['require', 'verify-ca', 'verify-full'];

/** Whoever listens on the network between would read everything, the password included. */
function unencrypted(url: string | undefined): string | undefined {
  if (url === undefined || isOnThisMachine(url)) return undefined;
  const mode = parametersOf(url).get('sslmode') ?? '';
  if (CHECKED_MODES.includes(mode)) return undefined;
  return 'is on another machine and the connection would not be encrypted to a server that is known; add ?sslmode=verify-full, with &sslrootcert= for a certificate authority of its own';
}

export function isOnThisMachine(databaseUrl: string): boolean {
  return hostsOf(databaseUrl).every(isThisMachine);
}

/** There may be several, and a parameter takes precedence. */
function hostsOf(url: string): string[] {
  const [, authority = ''] = /^\w+:\/\/(?:[^/?]*@)?([^/?]*)/.exec(url) ?? [];
  return (parametersOf(url).get('host') ?? authority)
    .split(',')
    .map((place) => decodeURIComponent(place).replace(/^\[([^\]]*)\].*$|:\d*$/, '$1'));
}

function parametersOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}

/** A path is a socket's. */
function isThisMachine(host: string): boolean {
  return (
    host === '' ||
    host === 'localhost' ||
    host === '::1' ||
    host.startsWith('/') ||
    /^127\.\d+\.\d+\.\d+$/.test(host)
  );
}
