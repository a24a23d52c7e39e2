import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig } from '../../src/config.ts';

const FOLDER = '/srv/porter';
/** 32 bytes in base64. */
const KEY = Buffer.alloc(32, 'key').toString('base64');
const read = (env: Record<string, string> = {}) => readConfig(env, FOLDER);

function problems(env: Record<string, string>): string[] {
  try {
    read(env);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message.split('\n');
  }
  return [];
}

describe('configuration', () => {
  it('has a default for everything: a staging deployment on the loopback, with its own database and a demo', () => {
    expect(read()).toEqual({
      environment: 'staging',
      host: '127.0.0.1',
      port: 8080,
      databaseUrl: undefined,
      dataDir: '/srv/porter/.porter',
      operatorToken: undefined,
      tls: undefined,
      trustProxy: [],
      demo: true,
      probes: 'loopback',
      baseUrls: { production: 'https://api.porter.example', staging: 'https://staging.api.porter.example' },
      webhookUrls: {
        production: 'https://webhooks.porter.example',
        staging: 'https://staging.webhooks.porter.example',
      },
      ownUrl: undefined,
      masterKey: undefined,
      previousMasterKeys: [],
      webhookTargets: 'loopback',
      role: 'all',
      rateWindows: 'memory',
      retention: { events: 30, formSubmissions: 400, writeToRecordJobs: 400, endedKeys: 800, accessLog: 400 },
    });
  });

  it('reads every variable', () => {
    expect(
      read({
        PORTER_ENVIRONMENT: 'production',
        PORTER_HOST: '::',
        PORTER_PORT: '443',
        DATABASE_URL: 'postgresql://porter:p%40ss@db.internal:5433/porter?sslmode=require',
        PORTER_DATA_DIR: '/var/lib/porter',
        PORTER_OPERATOR_TOKEN: 'a-token-of-24-characters',
        PORTER_TLS_CERT: 'tls/cert.pem',
        PORTER_TLS_KEY: '/etc/tls/key.pem',
        PORTER_TRUST_PROXY: '10.0.0.0/8, 192.0.2.1 fd00::/8',
        PORTER_DEMO: 'on',
        PORTER_PROBES: 'anywhere',
        PORTER_BASE_URL: 'https://api.example.org/',
        PORTER_STAGING_BASE_URL: 'https://staging.example.org/porter//',
        PORTER_WEBHOOKS_URL: 'https://hooks.example.org/',
        PORTER_STAGING_WEBHOOKS_URL: 'https://staging.example.org/hooks',
        PORTER_MASTER_KEY: KEY,
        PORTER_MASTER_KEY_PREVIOUS: `${'0a'.repeat(32)}, ${'0B'.repeat(32)}`,
        PORTER_WEBHOOK_TARGETS: 'public',
        PORTER_ROLE: 'worker',
        PORTER_RATE_WINDOWS: 'memory',
        PORTER_RETENTION_DAYS: '90',
        PORTER_FORM_SUBMISSION_DAYS: '100',
        PORTER_JOB_DAYS: '110',
        PORTER_ENDED_KEY_DAYS: '130',
        PORTER_ACCESS_LOG_DAYS: '120',
      }),
    ).toEqual({
      environment: 'production',
      host: '::',
      port: 443,
      databaseUrl: 'postgresql://porter:p%40ss@db.internal:5433/porter?sslmode=require',
      dataDir: '/var/lib/porter',
      operatorToken: 'a-token-of-24-characters',
      tls: { certFile: '/srv/porter/tls/cert.pem', keyFile: '/etc/tls/key.pem' },
      trustProxy: ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'],
      demo: true,
      probes: 'anywhere',
      baseUrls: { production: 'https://api.example.org', staging: 'https://staging.example.org/porter' },
      webhookUrls: { production: 'https://hooks.example.org', staging: 'https://staging.example.org/hooks' },
      ownUrl: 'https://api.example.org',
      masterKey: Buffer.alloc(32, 'key'),
      previousMasterKeys: [Buffer.alloc(32, 10), Buffer.alloc(32, 11)],
      webhookTargets: 'public',
      role: 'worker',
      rateWindows: 'memory',
      retention: { events: 90, formSubmissions: 100, writeToRecordJobs: 110, endedKeys: 130, accessLog: 120 },
    });
  });

  it('counts calls for all nodes together on a database that they may share, unless told otherwise', () => {
    expect(read({ DATABASE_URL: 'postgres://db/porter' }).rateWindows).toBe('shared');
  });

  it('is all that this file tests: no variable is read that it does not know', () => {
    const source = readFileSync(new URL('../../src/config.ts', import.meta.url), 'utf8');
    const names = new Set(source.match(/'(PORTER_[A-Z_]+|DATABASE_URL)'/g));
    const own = readFileSync(new URL(import.meta.url), 'utf8');
    for (const name of names) expect(own).toContain(name.replaceAll("'", ''));
  });

  it('takes an empty or blank variable for one that is not set, and trims the others', () => {
    const blank = Object.fromEntries(
      ['ENVIRONMENT', 'PORT', 'DATA_DIR', 'OPERATOR_TOKEN', 'TLS_CERT', 'DEMO', 'BASE_URL'].map((name) => [
        `PORTER_${name}`,
        ' \t',
      ]),
    );
    for (const DATABASE_URL of ['', ' \t']) expect(read({ ...blank, DATABASE_URL })).toEqual(read());
    expect(read({ PORTER_PORT: ' 81 ', PORTER_DEMO: 'off\n' })).toMatchObject({ port: 81, demo: false });
  });

  it.each([
    ['PORTER_ENVIRONMENT', 'Production'],
    ['PORTER_ENVIRONMENT', 'test'],
    ['PORTER_PORT', '-1'],
    ['PORTER_PORT', '65536'],
    ['PORTER_PORT', '80.5'],
    ['PORTER_PORT', '0x50'],
    ['PORTER_PORT', '1e3'],
    ['PORTER_PORT', 'http'],
    ['DATABASE_URL', 'mysql://localhost/porter'],
    ['DATABASE_URL', 'localhost:5432'],
    ['DATABASE_URL', 'postgres://user:per%cent@localhost/porter'],
    ['PORTER_OPERATOR_TOKEN', 'with space'],
    ['PORTER_OPERATOR_TOKEN', 'schlüssel-schlüssel-schlüssel'],
    ['PORTER_TRUST_PROXY', 'proxy.internal'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/33'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/eight'],
    ['PORTER_TRUST_PROXY', '*'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/8/8'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/0x8'],
    ['PORTER_DEMO', 'yes'],
    ['PORTER_PROBES', 'everywhere'],
    ['PORTER_BASE_URL', 'api.example.org'],
    ['PORTER_STAGING_BASE_URL', 'ftp://example.org'],
    ['PORTER_WEBHOOKS_URL', 'hooks.example.org'],
    ['PORTER_STAGING_WEBHOOKS_URL', 'ftp://example.org'],
    ['PORTER_MASTER_KEY', 'hunter2'],
    ['PORTER_MASTER_KEY', KEY.slice(1)],
    ['PORTER_MASTER_KEY', `${KEY}AAAA`],
    ['PORTER_MASTER_KEY', '0g'.repeat(32)],
    ['PORTER_MASTER_KEY', '0a'.repeat(31)],
    ['PORTER_MASTER_KEY_PREVIOUS', `${KEY}, hunter2`],
    ['PORTER_WEBHOOK_TARGETS', 'private'],
    ['PORTER_ROLE', 'both'],
    ['PORTER_RETENTION_DAYS', '0'],
    ['PORTER_RETENTION_DAYS', '3651'],
    ['PORTER_RETENTION_DAYS', '1.5'],
    ['PORTER_RETENTION_DAYS', 'forever'],
    ['PORTER_FORM_SUBMISSION_DAYS', '0'],
    ['PORTER_JOB_DAYS', '0'],
    ['PORTER_ENDED_KEY_DAYS', '0'],
    ['PORTER_ENDED_KEY_DAYS', '399'],
    ['PORTER_ACCESS_LOG_DAYS', '0'],
  ])('refuses %s=%s, and says which variable it is', (name, value) => {
    const found = problems({ [name]: value });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${name}: `));
  });

  it('takes the smallest and largest port', () => {
    expect(read({ PORTER_PORT: '0' }).port).toBe(0);
    expect(read({ PORTER_PORT: '65535' }).port).toBe(65_535);
  });

  it('wants both halves of a TLS pair or neither', () => {
    for (const name of ['PORTER_TLS_CERT', 'PORTER_TLS_KEY'])
      expect(problems({ [name]: 'x.pem' })).toEqual([
        'PORTER_TLS_CERT and PORTER_TLS_KEY: set both or neither',
      ]);
  });

  it('reports all problems together, each once', () => {
    const found = problems({
      PORTER_ENVIRONMENT: 'prod',
      PORTER_PORT: 'x',
      DATABASE_URL: 'x',
      PORTER_TLS_CERT: 'x',
      PORTER_TRUST_PROXY: 'x',
      PORTER_DEMO: 'x',
      PORTER_PROBES: 'x',
      PORTER_BASE_URL: 'x',
      PORTER_STAGING_BASE_URL: 'x',
    });
    expect(found.map((line) => line.split(':')[0]).sort()).toEqual([
      'DATABASE_URL',
      'PORTER_BASE_URL',
      'PORTER_DEMO',
      'PORTER_ENVIRONMENT',
      'PORTER_PORT',
      'PORTER_PROBES',
      'PORTER_STAGING_BASE_URL',
      'PORTER_TLS_CERT and PORTER_TLS_KEY',
      'PORTER_TRUST_PROXY',
    ]);
  });

  it('never repeats a secret in what it says', () => {
    const said = problems({
      DATABASE_URL: 'http://porter:hunter2-secret@db/porter',
      PORTER_OPERATOR_TOKEN: 'hunter2 secret',
      PORTER_MASTER_KEY: 'hunter2',
      PORTER_MASTER_KEY_PREVIOUS: 'hunter2',
      PORTER_PORT: 'x',
    }).join('\n');
    expect(said).toContain('DATABASE_URL');
    expect(said).toContain('PORTER_MASTER_KEY');
    expect(said).not.toContain('hunter2');
  });

  it('knows its own public address only if it was told', () => {
    expect(read({ PORTER_STAGING_BASE_URL: 'https://s.example' }).ownUrl).toBe('https://s.example');
    expect(read({ PORTER_BASE_URL: 'https://p.example' }).ownUrl).toBeUndefined();
  });
});

describe('in production', () => {
  const production = { PORTER_ENVIRONMENT: 'production', PORTER_MASTER_KEY: KEY };

  it('there is no demo world unless it is asked for', () => {
    expect(read(production).demo).toBe(false);
    expect(read({ ...production, PORTER_DEMO: 'on' }).demo).toBe(true);
  });

  it('a master key is needed, and said so once', () => {
    for (const none of [{}, { PORTER_MASTER_KEY: ' ' }])
      expect(problems({ PORTER_ENVIRONMENT: 'production', ...none })).toEqual([
        'PORTER_MASTER_KEY: is required in production; make one with `openssl rand -base64 32`',
      ]);
    expect(problems({ PORTER_ENVIRONMENT: 'production', PORTER_MASTER_KEY: 'x' })).toHaveLength(1);
  });

  it('webhooks reach public addresses only', () => {
    expect(read(production).webhookTargets).toBe('public');
    expect(problems({ ...production, PORTER_WEBHOOK_TARGETS: 'loopback' })).toEqual([
      'PORTER_WEBHOOK_TARGETS: "loopback" is for staging only',
    ]);
  });

  it('an operator token that could be guessed is refused; in staging it is not', () => {
    const weak = { PORTER_OPERATOR_TOKEN: 'x'.repeat(23) };
    expect(problems({ ...production, ...weak })).toEqual([
      'PORTER_OPERATOR_TOKEN: must have at least 24 characters in production',
    ]);
    expect(problems(weak)).toEqual([]);
    expect(problems({ ...production, PORTER_OPERATOR_TOKEN: 'x'.repeat(24) })).toEqual([]);
  });
});
