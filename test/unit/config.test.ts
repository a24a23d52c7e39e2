import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { listOf } from '../../src/domain/access/address-list.ts';
import { ConfigError, readConfig } from '../../src/service/config.ts';

const FOLDER = '/srv/porter';
const KEY_BYTES = createHash('sha256').update('key').digest();
/** 32 bytes in base64. */
const KEY = KEY_BYTES.toString('base64');
const TOKEN = 'kQ9vXr2LwZ8nBf4YcHd7GmUa3SpJe6';
const GIGABYTE = 1024 ** 3;
const MACHINE = { cores: 2, memoryBytes: 8 * GIGABYTE };
/** But for the list of settings as they were set: deployment.test.ts has that. */
const read = (env: Record<string, string> = {}, machine = MACHINE) => {
  const { settings: _settings, ...config } = readConfig(env, FOLDER, machine);
  return config;
};

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
      migrationDatabaseUrl: undefined,
      dataDir: '/srv/porter/.porter',
      operatorToken: undefined,
      tls: undefined,
      trustProxy: [],
      clientCertificates: 'off',
      connections: { total: 4096, perAddress: 256 },
      demo: true,
      probes: 'loopback',
      baseUrls: { production: 'https://api.porter.example', staging: 'https://staging.api.porter.example' },
      webhookUrls: {
        production: 'https://webhooks.porter.example',
        staging: 'https://staging.webhooks.porter.example',
      },
      supportContact: 'support@porter.example',
      webhookSenders: [],
      mail: undefined,
      alertThresholds: {
        partnerWaitingDays: 7,
        lateMinutes: 90,
        ehrDownMinutes: 30,
        changesPendingMinutes: 60,
      },
      ownUrl: undefined,
      masterKey: undefined,
      previousMasterKeys: [],
      webhookTargets: 'loopback',
      operatorTargets: 'loopback',
      role: 'all',
      processes: 1,
      rateWindows: 'memory',
      oidc: undefined,
      approvals: [],
      sessions: { idleMs: 30 * 60_000, absoluteMs: 12 * 3_600_000 },
      retention: {
        events: 30,
        formSubmissions: 400,
        writeToRecordJobs: 400,
        endedKeys: 800,
        accessLog: 400,
        alerts: 400,
        endedChanges: 400,
        usage: 800,
      },
      auditAnchors: { file: undefined, url: undefined, everyMs: 3_600_000 },
    });
  });

  it('reads every variable', () => {
    expect(
      read({
        PORTER_ENVIRONMENT: 'production',
        PORTER_HOST: '::',
        PORTER_PORT: '443',
        DATABASE_URL: 'postgresql://porter:p%40ss@db.internal:5433/porter?sslmode=require',
        PORTER_MIGRATION_DATABASE_URL: 'postgres://owner@db.internal/porter?sslmode=verify-full',
        PORTER_DATA_DIR: '/var/lib/porter',
        PORTER_OPERATOR_TOKEN: TOKEN,
        PORTER_TLS_CERT: 'tls/cert.pem',
        PORTER_TLS_KEY: '/etc/tls/key.pem',
        PORTER_TRUST_PROXY: '10.0.0.0/8, 192.0.2.1 fd00::/8',
        PORTER_CLIENT_CERTIFICATES: 'x-client-cert-sha256',
        PORTER_CONNECTIONS_MAX: '20000',
        PORTER_CONNECTIONS_PER_ADDRESS_MAX: '50',
        PORTER_DEMO: 'off',
        PORTER_PROBES: 'anywhere',
        PORTER_BASE_URL: 'https://api.example.org/',
        PORTER_STAGING_BASE_URL: 'https://staging.example.org/porter//',
        PORTER_WEBHOOKS_URL: 'https://hooks.example.org/',
        PORTER_STAGING_WEBHOOKS_URL: 'https://staging.example.org/hooks',
        PORTER_SUPPORT_CONTACT: 'https://support.example.org/porter',
        PORTER_WEBHOOK_SENDERS: '203.0.113.7, 2001:db8::/64',
        PORTER_SMTP_URL: 'smtps://porter:p%40ss@mail.example.org',
        PORTER_MAIL_FROM: 'Porter alerts <alerts@example.org>',
        PORTER_ALERT_PARTNER_WAITING_DAYS: '3',
        PORTER_ALERT_LATE_MINUTES: '20',
        PORTER_ALERT_EHR_DOWN_MINUTES: '60',
        PORTER_ALERT_CHANGES_PENDING_MINUTES: '15',
        PORTER_ALERT_DAYS: '140',
        PORTER_MASTER_KEY: KEY,
        PORTER_MASTER_KEY_PREVIOUS: `${'0a'.repeat(32)}, ${'0B'.repeat(32)}`,
        PORTER_WEBHOOK_TARGETS: 'public',
        PORTER_ROLE: 'worker',
        PORTER_RATE_WINDOWS: 'memory',
        PORTER_RETENTION_DAYS: '90',
        PORTER_FORM_SUBMISSION_DAYS: '100',
        PORTER_JOB_DAYS: '110',
        PORTER_ENDED_KEY_DAYS: '130',
        PORTER_USAGE_DAYS: '140',
        PORTER_ACCESS_LOG_DAYS: '120',
        PORTER_CHANGE_DAYS: '140',
        PORTER_SESSION_IDLE_MINUTES: '2',
        PORTER_SESSION_HOURS: '168',
        PORTER_OIDC_ISSUER: 'https://id.example.org/tenant',
        PORTER_OIDC_CLIENT_ID: 'porter',
        PORTER_OIDC_CLIENT_SECRET: 'secret',
        PORTER_OIDC_SCOPES: 'openid groups',
        PORTER_OIDC_ROLES_CLAIM: 'realm_access.roles',
        PORTER_APPROVALS: 'networks, keys',
        PORTER_OIDC_ROLES: 'On call=admin, dc=help=support',
        PORTER_OPERATOR_TARGETS: '10.20.0.0/16, fd12::/16',
        PORTER_AUDIT_ANCHOR_FILE: 'anchors',
        PORTER_AUDIT_ANCHOR_URL: 'https://store.example.org/anchors/{seq}',
        PORTER_PROCESSES: '7',
        PORTER_AUDIT_ANCHOR_MINUTES: '5',
      }),
    ).toEqual({
      environment: 'production',
      host: '::',
      port: 443,
      databaseUrl: 'postgresql://porter:p%40ss@db.internal:5433/porter?sslmode=require',
      migrationDatabaseUrl: 'postgres://owner@db.internal/porter?sslmode=verify-full',
      dataDir: '/var/lib/porter',
      operatorToken: TOKEN,
      tls: { certFile: '/srv/porter/tls/cert.pem', keyFile: '/etc/tls/key.pem' },
      trustProxy: ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'],
      clientCertificates: 'x-client-cert-sha256',
      connections: { total: 20_000, perAddress: 50 },
      demo: false,
      probes: 'anywhere',
      baseUrls: { production: 'https://api.example.org', staging: 'https://staging.example.org/porter' },
      webhookUrls: { production: 'https://hooks.example.org', staging: 'https://staging.example.org/hooks' },
      supportContact: 'https://support.example.org/porter',
      webhookSenders: ['203.0.113.7', '2001:db8::/64'],
      mail: {
        server: {
          host: 'mail.example.org',
          port: 465,
          isTls: true,
          isLocal: false,
          user: 'porter',
          password: 'p@ss',
        },
        from: { name: 'Porter alerts', address: 'alerts@example.org' },
      },
      alertThresholds: {
        partnerWaitingDays: 3,
        lateMinutes: 20,
        ehrDownMinutes: 60,
        changesPendingMinutes: 15,
      },
      ownUrl: 'https://api.example.org',
      masterKey: KEY_BYTES,
      previousMasterKeys: [Buffer.alloc(32, 10), Buffer.alloc(32, 11)],
      webhookTargets: 'public',
      operatorTargets: { reach: 'public', networks: listOf(['10.20.0.0/16', 'fd12::/16']) },
      role: 'worker',
      processes: 7,
      rateWindows: 'memory',
      retention: {
        events: 90,
        formSubmissions: 100,
        writeToRecordJobs: 110,
        endedKeys: 130,
        accessLog: 120,
        alerts: 140,
        endedChanges: 140,
        usage: 140,
      },
      oidc: {
        issuer: 'https://id.example.org/tenant',
        isLocal: false,
        clientId: 'porter',
        clientSecret: 'secret',
        scopes: 'openid groups',
        rolesClaim: 'realm_access.roles',
        roles: new Map([
          ['On call', 'admin'],
          ['dc=help', 'support'],
        ]),
      },
      approvals: ['keys', 'networks'],
      sessions: { idleMs: 2 * 60_000, absoluteMs: 168 * 3_600_000 },
      auditAnchors: {
        file: '/srv/porter/anchors',
        url: 'https://store.example.org/anchors/{seq}',
        everyMs: 300_000,
      },
    });
  });

  it('counts calls for all nodes together on a database that they may share, unless told otherwise', () => {
    expect(read({ DATABASE_URL: 'postgres://db/porter' }).rateWindows).toBe('shared');
  });

  it('says what is wrong with the way in for people', () => {
    const oidc = {
      PORTER_OIDC_ISSUER: 'http://127.0.0.1:4000',
      PORTER_OIDC_CLIENT_ID: 'porter',
      PORTER_OIDC_ROLES: 'a=admin',
    };
    expect(read(oidc).oidc).toMatchObject({ isLocal: true, clientSecret: undefined, rolesClaim: 'groups' });
    const named = (env: Record<string, string>) => problems(env).map((line) => line.split(':')[0]);
    expect(named({ PORTER_OIDC_CLIENT_ID: 'porter' })).toEqual([
      'PORTER_OIDC_ISSUER, PORTER_OIDC_CLIENT_ID and PORTER_OIDC_ROLES',
    ]);
    for (const issuer of ['http://id.example.org', 'ftp://id.example.org', 'id.example.org'])
      expect(named({ ...oidc, PORTER_OIDC_ISSUER: issuer })).toContain('PORTER_OIDC_ISSUER');
    for (const roles of ['a', '=admin', 'a=source', 'a=boss'])
      expect(named({ ...oidc, PORTER_OIDC_ROLES: roles })).toContain('PORTER_OIDC_ROLES');
    expect(named({ ...oidc, PORTER_OIDC_SCOPES: 'profile' })).toEqual(['PORTER_OIDC_SCOPES']);
    expect(named({ PORTER_APPROVALS: 'keys, partners' })).toEqual(['PORTER_APPROVALS']);
    expect(named({ PORTER_SESSION_IDLE_MINUTES: '1', PORTER_SESSION_HOURS: '0' })).toEqual([
      'PORTER_SESSION_IDLE_MINUTES',
      'PORTER_SESSION_HOURS',
    ]);
    const production = { ...oidc, PORTER_ENVIRONMENT: 'production', PORTER_MASTER_KEY: KEY };
    expect(named(production)).toContain('PORTER_OIDC_ISSUER');
    expect(named({ ...production, PORTER_OIDC_ISSUER: 'https://id.example.org' })).toContain(
      'PORTER_BASE_URL',
    );
  });

  it('is all that this file tests: no variable is read that it does not know', () => {
    const read = (name: string) =>
      readFileSync(new URL(`../../src/service/${name}`, import.meta.url), 'utf8');
    const source = read('config.ts') + read('sign-in-settings.ts');
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
    ['PORTER_MIGRATION_DATABASE_URL', 'postgres://owner@localhost/porter'],
    ['DATABASE_URL', 'localhost:5432'],
    ['DATABASE_URL', 'postgres://user:per%cent@localhost/porter'],
    ['PORTER_OPERATOR_TOKEN', 'with space'],
    ['PORTER_OPERATOR_TOKEN', 'schlüssel-schlüssel-schlüssel'],
    ['PORTER_CLIENT_CERTIFICATES', 'on'],
    ['PORTER_CLIENT_CERTIFICATES', 'tls'],
    ['PORTER_CLIENT_CERTIFICATES', 'x-client-cert'],
    ['PORTER_CLIENT_CERTIFICATES', 'x-real-ip'],
    ['PORTER_TRUST_PROXY', 'proxy.internal'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/33'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/eight'],
    ['PORTER_TRUST_PROXY', '*'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/8/8'],
    ['PORTER_TRUST_PROXY', '10.0.0.0/0x8'],
    ['PORTER_CONNECTIONS_MAX', '0'],
    ['PORTER_CONNECTIONS_MAX', '1000001'],
    ['PORTER_CONNECTIONS_PER_ADDRESS_MAX', '-1'],
    ['PORTER_CONNECTIONS_PER_ADDRESS_MAX', 'many'],
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
    ['PORTER_AUDIT_ANCHOR_URL', 'store.example.org'],
    ['PORTER_AUDIT_ANCHOR_MINUTES', '0'],
    ['PORTER_AUDIT_ANCHOR_MINUTES', '1441'],
    ['PORTER_RETENTION_DAYS', '0'],
    ['PORTER_RETENTION_DAYS', '3651'],
    ['PORTER_RETENTION_DAYS', '1.5'],
    ['PORTER_RETENTION_DAYS', 'forever'],
    ['PORTER_FORM_SUBMISSION_DAYS', '0'],
    ['PORTER_JOB_DAYS', '0'],
    ['PORTER_ENDED_KEY_DAYS', '0'],
    ['PORTER_USAGE_DAYS', '0'],
    ['PORTER_ENDED_KEY_DAYS', '399'],
    ['PORTER_ACCESS_LOG_DAYS', '0'],
    ['PORTER_ALERT_DAYS', '0'],
    ['PORTER_ALERT_LATE_MINUTES', '0'],
    ['PORTER_ALERT_LATE_MINUTES', '10081'],
    ['PORTER_ALERT_EHR_DOWN_MINUTES', '1.5'],
    ['PORTER_ALERT_CHANGES_PENDING_MINUTES', '0'],
    ['PORTER_ALERT_PARTNER_WAITING_DAYS', '366'],
    ['PORTER_SUPPORT_CONTACT', 'the third door on the left'],
    ['PORTER_SUPPORT_CONTACT', 'http://support.example.org'],
    ['PORTER_WEBHOOK_SENDERS', 'our office'],
    ['PORTER_CHANGE_DAYS', '0'],
    ['PORTER_OPERATOR_TARGETS', 'ehr.internal'],
  ])('refuses %s=%s, and says which variable it is', (name, value) => {
    const found = problems({ [name]: value });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(new RegExp(`^${name}: `));
  });

  it('takes the smallest and largest port', () => {
    expect(read({ PORTER_PORT: '0' }).port).toBe(0);
    expect(read({ PORTER_PORT: '65535' }).port).toBe(65_535);
  });

  it('wants a mail server that makes sense and who its messages are from, and tells no password', () => {
    const both = 'PORTER_SMTP_URL and PORTER_MAIL_FROM: set both or neither';
    const PORTER_MAIL_FROM = 'alerts@example.org';
    expect(problems({ PORTER_SMTP_URL: 'smtp://127.0.0.1' })).toEqual([both]);
    expect(problems({ PORTER_MAIL_FROM })).toEqual([both]);
    expect(read({ PORTER_SMTP_URL: 'smtp://[::1]:25', PORTER_MAIL_FROM }).mail).toEqual({
      server: { host: '::1', port: 25, isTls: false, isLocal: true, user: undefined, password: undefined },
      from: { name: 'Porter', address: 'alerts@example.org' },
    });
    for (const PORTER_SMTP_URL of [
      'mail.example.org',
      'https://u:s3cret@mail.example.org',
      'smtp://u:s3cret@mail.example.org/?tls.rejectUnauthorized=false',
      'smtp://u:s3%cret@mail.example.org',
    ]) {
      const found = problems({ PORTER_SMTP_URL, PORTER_MAIL_FROM });
      expect(found[0]).toMatch(/^PORTER_SMTP_URL|^PORTER_SMTP_URL and/);
      expect(found.join()).not.toContain('s3');
    }
    for (const from of ['Porter', 'a@b@c', 'Porter <a@b>\nBcc: x@y', '<>'])
      expect(problems({ PORTER_SMTP_URL: 'smtp://127.0.0.1', PORTER_MAIL_FROM: from }).join('\n')).toContain(
        'PORTER_MAIL_FROM: ',
      );
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

  it.each<[string, Record<string, string>, string]>([
    ['on the loopback', {}, 'loopback'],
    ['on another address of it', { PORTER_HOST: '127.0.0.2' }, 'loopback'],
    ['on that of IPv6', { PORTER_HOST: '::1' }, 'loopback'],
    ['on its name', { PORTER_HOST: 'localhost' }, 'loopback'],
    ['on every address', { PORTER_HOST: '0.0.0.0' }, 'public'],
    ['on every address of IPv6', { PORTER_HOST: '::' }, 'public'],
    ['on one of the network', { PORTER_HOST: '10.0.0.5' }, 'public'],
    ['by a name', { PORTER_HOST: 'porter.internal' }, 'public'],
    ['with TLS', { PORTER_TLS_CERT: 'c', PORTER_TLS_KEY: 'k' }, 'public'],
    ['behind a proxy', { PORTER_TRUST_PROXY: '127.0.0.1' }, 'public'],
    [
      'behind a proxy, told so',
      { PORTER_TRUST_PROXY: '::1', PORTER_WEBHOOK_TARGETS: 'loopback' },
      'loopback',
    ],
    ['on the loopback, told so', { PORTER_WEBHOOK_TARGETS: 'public' }, 'public'],
  ])('staging %s: what webhooks may reach', (_where, env, targets) => {
    expect(read(env).webhookTargets).toBe(targets);
  });

  it('knows its own public address only if it was told', () => {
    expect(read({ PORTER_STAGING_BASE_URL: 'https://s.example' }).ownUrl).toBe('https://s.example');
    expect(read({ PORTER_BASE_URL: 'https://p.example' }).ownUrl).toBeUndefined();
  });
});

describe('PORTER_PROCESSES', () => {
  const elsewhere = { DATABASE_URL: 'postgres://porter@db.example/porter' };
  const processes = (env: Record<string, string>, cores: number, gigabytes = 64) =>
    read(env, { cores, memoryBytes: gigabytes * GIGABYTE }).processes;

  it('is one on few cores; leaves a quarter of more to a PostgreSQL on this machine, and none to one elsewhere', () => {
    expect([1, 2, 3, 4, 8, 64].map((cores) => processes({}, cores))).toEqual([1, 1, 1, 3, 6, 8]);
    expect(processes({ DATABASE_URL: 'postgres://porter@127.0.0.1/porter' }, 8)).toBe(6);
    expect([1, 2, 8, 64].map((cores) => processes(elsewhere, cores))).toEqual([1, 2, 8, 8]);
  });

  it('starts no more than there is memory for', () => {
    expect([0.25, 1, 2].map((gigabytes) => processes(elsewhere, 8, gigabytes))).toEqual([1, 2, 5]);
  });

  it('is what was set', () => {
    expect(processes({ PORTER_PROCESSES: '3' }, 1)).toBe(3);
    for (const PORTER_PROCESSES of ['0', '65', 'many'])
      expect(problems({ PORTER_PROCESSES })).toEqual([
        `PORTER_PROCESSES: "${PORTER_PROCESSES}" is not a number of processes from 1 to 64`,
      ]);
  });
});

describe('in production', () => {
  const production = { PORTER_ENVIRONMENT: 'production', PORTER_MASTER_KEY: KEY };

  it('there is no demo world', () => {
    expect(read(production).demo).toBe(false);
    expect(problems({ ...production, PORTER_DEMO: 'on' })).toEqual([expect.stringMatching(/^PORTER_DEMO: /)]);
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
    for (const token of [
      'x'.repeat(24),
      'abcabcabcabcabcabcabcabcabc',
      'change-me-change-me-change-me',
      'test-operator-token-of-24-or-more',
      'porter-admin-password-1234567890',
      '000000000000000000000000000000',
    ])
      expect(problems({ ...production, PORTER_OPERATOR_TOKEN: token }), token).toEqual([
        'PORTER_OPERATOR_TOKEN: can be guessed; make a random one with `echo pto_$(openssl rand -hex 20)`, or leave it out',
      ]);
    for (let n = 0; n < 500; n++) {
      const made = `pto_${createHash('sha1').update(String(n)).digest('hex')}`;
      expect(problems({ ...production, PORTER_OPERATOR_TOKEN: made }), made).toEqual([]);
    }
  });

  it.each(['0.0.0.0/0', '::/0', '0.0.0.0/1, 128.0.0.0/1', '10.0.0.0/8 ::/1'])(
    'PORTER_TRUST_PROXY=%s would believe anybody, and is refused; in staging it is not',
    (PORTER_TRUST_PROXY) => {
      expect(problems({ ...production, PORTER_TRUST_PROXY })).toEqual([
        expect.stringMatching(/^PORTER_TRUST_PROXY: .* lets anybody say/),
      ]);
      expect(problems({ PORTER_TRUST_PROXY })).toEqual([]);
    },
  );

  it('a master key that can be guessed is refused, without a character of it; in staging it is not', () => {
    for (const bytes of [
      Buffer.alloc(32),
      Buffer.alloc(32, 0xff),
      Buffer.alloc(32, 'key'),
      Buffer.from(Array.from({ length: 32 }, (_, n) => n)),
      Buffer.from(Array.from({ length: 32 }, (_, n) => 255 - 3 * n)),
      Buffer.from('correct horse battery staple 123'),
    ]) {
      const weak = { PORTER_MASTER_KEY: bytes.toString('base64') };
      expect(problems({ ...production, ...weak })).toEqual([
        'PORTER_MASTER_KEY: can be guessed; make a random one with `openssl rand -base64 32`',
      ]);
      expect(problems(weak)).toEqual([]);
    }
    for (let n = 0; n < 500; n++) {
      const made = createHash('sha256').update(String(n)).digest('base64');
      expect(problems({ ...production, PORTER_MASTER_KEY: made })).toEqual([]);
    }
  });

  it('the public addresses are https', () => {
    for (const name of ['PORTER_BASE_URL', 'PORTER_WEBHOOKS_URL'])
      expect(problems({ ...production, [name]: 'http://api.example.org' })).toEqual([
        `${name}: must be an https address in production`,
      ]);
  });

  it.each([
    'postgres://porter@db.internal/porter',
    'postgres://porter@db.internal/porter?sslmode=disable',
    'postgres://porter@db.internal/porter?sslmode=prefer',
    'postgres://porter@db.internal/porter?sslmode=no-verify',
    'postgres://porter@10.0.0.7:5432/porter',
    'postgres://porter@127.0.0.1.example.org/porter',
    'postgres://porter@[2001:db8::1]:5432/porter',
    'postgres://porter@localhost/porter?host=db.internal',
  ])('a database on another machine is reached encrypted or not at all: %s', (url) => {
    const refusal = /is on another machine and the connection would not be encrypted/;
    expect(problems({ ...production, DATABASE_URL: url })).toEqual([expect.stringMatching(refusal)]);
    expect(
      problems({
        ...production,
        DATABASE_URL: 'postgres://localhost/porter',
        PORTER_MIGRATION_DATABASE_URL: url,
      }),
    ).toEqual([expect.stringMatching(/^PORTER_MIGRATION_DATABASE_URL: /)]);
    expect(problems({ DATABASE_URL: url })).toEqual([]);
  });

  it.each([
    'postgres://porter@db.internal/porter?sslmode=verify-full',
    'postgres://porter@db.internal/porter?application_name=x&sslmode=require',
    'postgres://porter@localhost/porter',
    'postgres://porter:p%40ss@127.0.0.1:5433/porter',
    'postgres://porter@[::1]:5432/porter',
    'postgres:///porter?host=/var/run/postgresql',
  ])('encrypted, or on this machine, it is fine: %s', (url) => {
    expect(problems({ ...production, DATABASE_URL: url })).toEqual([]);
  });

  it('all of it is said at once', () => {
    const found = problems({
      PORTER_ENVIRONMENT: 'production',
      PORTER_TRUST_PROXY: '0.0.0.0/0',
      PORTER_MASTER_KEY: '00'.repeat(32),
      PORTER_OPERATOR_TOKEN: 'change-me-change-me-change-me',
      PORTER_DEMO: 'on',
      PORTER_BASE_URL: 'http://api.example.org',
      DATABASE_URL: 'postgres://porter@db.internal/porter',
    });
    expect(found.map((line) => line.split(':')[0]).sort()).toEqual([
      'DATABASE_URL',
      'PORTER_BASE_URL',
      'PORTER_DEMO',
      'PORTER_MASTER_KEY',
      'PORTER_OPERATOR_TOKEN',
      'PORTER_TRUST_PROXY',
    ]);
  });
});
