import { writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/afterwards.ts';
import { porter as run, type Surroundings } from '../../support/cli.ts';
import { makeKey, makeWorld, OPERATOR_TOKEN, serviceForTests, startHarness } from '../../support/service.ts';

/** What a person reads when something is wrong: with the service, with a token, or with the address. */

const { house: harness, world } = await serviceForTests();
const { groupId: group, key } = world;

const porter = (line: string, env: Surroundings['env'] = {}, surroundings: Surroundings = {}) =>
  run(line, { ...surroundings, env: { PORTER_URL: harness.url, ...env } });
const operator = { PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
const partner = () => ({ PORTER_KEY: key, PORTER_GROUP: group });

describe('status', () => {
  const unavailable = { error: 'service_unavailable', message: 'No database.' };
  /** As the service answers without its database; `hanging` paths never answer. */
  const unready =
    (hanging: readonly string[]): typeof fetch =>
    async (url) => {
      const { pathname } = new URL(String(url));
      if (hanging.includes(pathname)) throw new DOMException('', 'TimeoutError');
      if (pathname === '/healthz') return Response.json({ status: 'ok' });
      if (pathname === '/metrics')
        return new Response('porter_delivery_queue{state="due"} 0\nporter_delivery_oldest_seconds 0\n');
      return Response.json(unavailable, { status: 503 });
    };

  it.each([
    ['answers that it is not ready', []],
    ['does not answer /readyz in time', ['/readyz']],
    ['does not answer /metrics in time', ['/metrics']],
    ['answers nothing but /healthz', ['/readyz', '/metrics', '/v1/webhooks', '/operator/v1/webhooks']],
  ])('is told, with a token as with a key, of a service that %s', async (_what, hanging) => {
    for (const env of [operator, partner()]) {
      const surroundings = { fetch: unready(hanging) };
      expect(await porter('status --json', env, surroundings)).toMatchObject({
        code: 1,
        json: {
          url: harness.url,
          ready: false,
          queue: null,
          oldest_undelivered_seconds: null,
          failing_webhooks: null,
          healthy: false,
        },
      });
      const { stdout } = await porter('status', env, surroundings);
      expect(stdout).toMatch(
        /is running, but not ready.*\nWhat waits cannot be told now\.\nWebhooks were not listed: .+\n$/,
      );
    }
  });

  it('does not take a connection that is refused for a database that is away', async () => {
    const { url } = await startHarness({ env: { PORTER_CONNECTIONS_PER_ADDRESS_MAX: '1' } });
    // Each probe has a connection of its own, and the first one is still open.
    const { code, stdout, stderr } = await porter('status', { ...operator, PORTER_URL: url });
    expect(stderr).toMatch(/^Error: The connection to .+ was closed before the answer was there/);
    expect(stderr).toContain('PORTER_CONNECTIONS_PER_ADDRESS_MAX');
    expect([code, stdout]).toEqual([3, '']);
  });

  it('ends with 3 when /healthz does not answer', async () => {
    const { code, stderr } = await porter('status', operator, { fetch: unready(['/healthz']) });
    expect(stderr).toContain(`Nothing answers at ${harness.url} (no answer in time).`);
    expect(code).toBe(3);
  });

  it('is healthy whatever is wrong with the token or the key', async () => {
    const { key: lacking } = await makeKey(harness, group, { scopes: ['events:read'] });
    const wrong = [
      { PORTER_OPERATOR_TOKEN: 'pto_wrong' },
      { ...partner(), PORTER_KEY: lacking },
      { PORTER_KEY: key },
    ];
    for (const env of wrong) {
      const { code, stdout } = await porter('status', env);
      expect(stdout).toMatch(/is running and ready\.\n.+\nWebhooks were not listed: .+\n$/);
      expect(code).toBe(0);
      expect((await porter('status --json', env)).json).toMatchObject({
        healthy: true,
        failing_webhooks: null,
      });
    }
  });
});

describe('a refusal', () => {
  it.each([
    ['keys revoke key_none --yes', 'There is no such key. See `porter keys list`.'],
    [
      'networks add net_none g',
      'There is no such network, or no such practice group. See `porter networks list` and `porter groups list`.',
    ],
    [
      'networks remove net_none g',
      'There is no such network, or this practice group is not one of it. See `porter networks list`.',
    ],
    ['deliveries retry dlv_none', 'There is no such delivery. See `porter deliveries list`.'],
    ['sla prt_nope', 'There is no such partner. See `porter partners list`.'],
    ['agreements list prt_nope', 'There is no such partner. See `porter partners list`.'],
  ])('of %s names what there is not', async (line, hint) => {
    expect((await porter(line, operator)).stderr).toContain(`\n  ${hint}\n`);
  });

  it('of resend names the practice group', async () => {
    const { stderr } = await porter('resend evt_none --webhook wh_none', partner());
    expect(stderr).toContain(
      `\n  There is no such event or webhook of yours in ${group}. Check the IDs, or name another practice group with --group.\n`,
    );
  });

  it.each([
    ['trigger appointment.confirmed', 'staging_only', 'Name the staging service: --url <address>'],
    ['resend evt_1 --webhook wh_1', 'event_unknown', 'Check the ID. An operator finds events with'],
    [
      'keys issue --partner prt_1 --group g --scopes all',
      'agreement_ended',
      'Record it: porter agreements add --help',
    ],
  ])('of %s by the rule %s says what to do next', async (line, rule, hint) => {
    const refusal = {
      statusCode: 422,
      error: 'business_rule_violation',
      message: 'It is not so.',
      rule,
      path: ['x'],
    };
    const fetch = async () => Response.json(refusal, { status: 422 });
    const { code, stderr } = await porter(line, { ...operator, ...partner() }, { fetch });
    expect(stderr).toContain(`\n  ${hint}`);
    expect(stderr).not.toContain('Change the fields');
    expect(code).toBe(1);
  });

  it('of a secret names where it comes from', async () => {
    const cwd = temporaryFolder();
    const wrong = { PORTER_KEY: 'ptr_test_wrong', PORTER_GROUP: group };
    const trigger = 'trigger appointment.confirmed';
    expect((await porter(trigger, wrong)).stderr).toContain('It is that of PORTER_KEY. ');
    expect((await porter('keys list', { PORTER_OPERATOR_TOKEN: 'pto_wrong' })).stderr).toContain(
      'Error: The operator token is invalid or expired.\n  It is that of PORTER_OPERATOR_TOKEN. ',
    );
    await mkdir(join(cwd, '.porter'));
    writeFileSync(join(cwd, '.porter/demo-key'), 'ptr_test_wrong');
    expect((await porter(trigger, {}, { cwd })).stderr).toContain(
      `It is that of the demo world (${join(cwd, '.porter/demo-key')}). `,
    );
    await porter('profiles add mine --operator', {}, { cwd, stdin: 'pto_wrong' });
    expect((await porter('keys list', {}, { cwd })).stderr).toContain('It is that of profile mine. ');
  });

  it('of a key names the scope that it lacks, and the practice group that it may not act for', async () => {
    const { key: lacking } = await makeKey(harness, group, { scopes: ['events:read'] });
    const { groupId: other } = await makeWorld(harness);
    const trigger = 'trigger appointment.confirmed';
    expect((await porter(trigger, { ...partner(), PORTER_KEY: lacking })).stderr).toContain(
      '\n  Ask support for a key with the scope webhooks:write. This one is that of PORTER_KEY.\n',
    );
    expect((await porter(`${trigger} --group ${other}`, partner())).stderr).toContain(
      `\n  The key is that of PORTER_KEY, the practice group is ${other}. Name another with --group`,
    );
  });

  it('of partners verify names the step before it', async () => {
    const { json } = await porter('partners create --name x --email a@b.example --json', operator);
    const { code, stderr } = await porter(`partners verify ${json.id}`, operator);
    expect(stderr).toContain('porter partners sign-agreement <partner_id>\n');
    expect(code).toBe(1);
    await porter(`partners sign-agreement ${json.id}`, operator);
    await porter(`partners verify ${json.id}`, operator);
    const again = await porter(`partners verify ${json.id}`, operator);
    expect(again.stderr).toContain('A partner who is verified cannot take the step verify.\n  More: ');
  });
});

describe('without a key', () => {
  const elsewhere =
    'That of a demo world is found in the folder that its service was started in: run this there.';

  it.each(['trigger appointment.confirmed', 'listen', 'resend evt_1', 'me'])(
    '%s says where one comes from',
    async (line) => {
      const { code, stdout, stderr } = await porter(line, { PORTER_GROUP: group });
      expect(stderr).toBe(
        [
          'Error: This needs an API key, and there is none.',
          '  Set PORTER_KEY and PORTER_GROUP, or keep both in a profile: porter profiles add --help',
          '  An operator issues a key: porter keys issue --help',
          `  ${elsewhere}\n`,
        ].join('\n'),
      );
      expect([code, stdout]).toEqual([1, '']);
    },
  );

  it.each(['trigger appointment.confirmed', 'listen', 'resend evt_1', 'me'])(
    '%s in the folder of the service says which profile hides that of its demo world',
    async (line) => {
      const cwd = temporaryFolder();
      await mkdir(join(cwd, '.porter'));
      writeFileSync(join(cwd, '.porter/demo-key'), key);
      writeFileSync(join(cwd, '.porter/url'), harness.url);
      const env = { PORTER_GROUP: group };
      await run(`profiles add mine --operator --url ${harness.url}`, { cwd, stdin: OPERATOR_TOKEN });
      const hidden = (by: string) => expect.stringContaining(`\n  The profile mine has none, and ${by}`);
      expect(await run(line, { cwd, env })).toMatchObject({
        code: 1,
        stderr: hidden(
          'while it is in use, that of a demo world is not looked for. To use no profile: porter profiles use --none\n',
        ),
      });
      expect(await run('profiles use --none', { cwd })).toMatchObject({
        code: 0,
        stdout: 'Using no profile.\n',
      });
      expect(await run(`${line} --profile mine`, { cwd, env })).toMatchObject({
        code: 1,
        stderr: hidden('with --profile that of a demo world is not looked for.\n'),
      });
      const me = await run('me --json', { cwd, env });
      expect([me.code, me.json.partner.id]).toEqual([0, world.partnerId]);
    },
  );

  it('nothing is said of a demo world where there cannot be one', async () => {
    const { stderr } = await porter('trigger appointment.confirmed', {
      PORTER_URL: 'https://api.example.com',
    });
    expect(stderr).toContain('An operator issues a key');
    expect(stderr).not.toContain('demo world');
  });

  it('without a practice group, it is said how to find those that there are', async () => {
    const { stderr } = await porter('trigger appointment.confirmed', { PORTER_KEY: key });
    expect(stderr).toContain(
      '\n  Give --group <id>, or set PORTER_GROUP. Those that the key may act for: porter me\n',
    );
  });
});

it('says of a certificate that is not trusted that it is not', async () => {
  const tls = (file: string) => fileURLToPath(new URL(`../../support/tls/${file}.pem`, import.meta.url));
  const secure = await startHarness({ env: { PORTER_TLS_CERT: tls('cert'), PORTER_TLS_KEY: tls('key') } });
  const { code, stderr } = await porter('status', { PORTER_URL: secure.url });
  expect(stderr).toContain(`The certificate of ${secure.url} is not trusted (`);
  expect(stderr).toContain('NODE_EXTRA_CA_CERTS');
  expect(code).toBe(3);
});

it('says of a service without HTTPS that it has none', async () => {
  const url = harness.url.replace('http:', 'https:');
  const { code, stderr } = await porter('status', { PORTER_URL: url });
  expect(stderr).toBe(`Error: ${url} does not speak HTTPS; try ${harness.url}\n`);
  expect(code).toBe(3);
});
