import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { environment, exitLines, usage } from '../../src/cli/help.ts';
import { temporaryFolder } from '../support/afterwards.ts';
import { until } from '../support/porter-process.ts';
import { startReceiver, status } from '../support/receiver.ts';
import { type Harness, makeWorld, OPERATOR_TOKEN, startHarness } from '../support/service.ts';

/** The guide to the command line: its lists are those of the help, and its examples are pasted into a shell. */

const ROOT = resolve(import.meta.dirname, '../..');
const guide = readFileSync(join(ROOT, 'docs/guides/command-line.md'), 'utf8');

describe('the guide to the command line', () => {
  const section = (title: string) =>
    new RegExp(`^## ${title}\n\n(.*?)\n*(?=^## |(?![^]))`, 'ms').exec(guide)?.[1];
  const table = (titles: [string, string], rows: readonly (readonly [string, string])[], code = true) =>
    [
      `| ${titles.join(' | ')} |`,
      '|---|---|',
      ...rows.map(([left, right]) => `| ${code ? `\`${left}\`` : left} | ${right.replaceAll('|', '\\|')} |`),
    ].join('\n');

  it('lists the exit codes, the environment and all commands as the help does', () => {
    expect(section('Exit codes')).toBe(table(['Code', 'Meaning'], exitLines(), false));
    expect(section('Environment')).toBe(table(['Name', 'Meaning'], environment));
    const rows = commands.map((command) => [`porter ${usage(command)}`, command.summary] as const);
    expect(section('All commands')).toBe(table(['Command', 'What it does'], rows));
  });
});

it('the signed sample of the guide is shown as it was signed, whoever reads it', () => {
  expect(guide).toMatch(/^```sh fixed\n(?:(?!^```).*\n)*webhook-signature: v1,/m);
});

const blocks = [...guide.matchAll(/^```sh(?: fixed)?\n(.*?)^```\n(?:\n```text output\n(.*?)^```$)?/gms)].map(
  ([, code = '', output]) => ({ code, output }),
);

describe('the examples of the guide', () => {
  let harness: Harness;
  const folder = temporaryFolder();
  /** What stands in the guide for something that differs each time, and what it is here. */
  const real = new Map<string, string>();

  beforeAll(async () => {
    harness = await startHarness();
    await makeWorld(harness, 'hillview-hub');
    const { key, groupId: group } = await makeWorld(harness, 'riverside-surgery');
    const receiver = await startReceiver({ behaviour: status(204) });
    const { body } = await harness.send('POST', '/v1/webhooks', { key, group, body: { url: receiver.url } });
    for (const title of ['One', 'Two'])
      await harness.send('PATCH', '/v1/care-nav/submission-types/type-1', { key, group, body: { title } });
    const changes = () => harness.operator('GET', `/changes?practice_group_id=${group}`);
    await until('both changes are placed', async () => (await changes()).count === 2);
    const [one, two] = (await changes()).data;
    real
      .set('chg_2a_9f86d081884c7d65', one.id)
      .set('chg_2b_1b4f0e9851971998', two.id)
      .set('http://127.0.0.1:8080', harness.url)
      .set('types show symptoms', 'types show type-1')
      .set('ptr_test_YOUR_KEY', key)
      .set('pto_YOUR_TOKEN', OPERATOR_TOKEN)
      .set('postgres://porter:secret@db.example/porter', harness.databaseUrl)
      .set('http://localhost:3000/hooks', receiver.url)
      .set('wh_00Vb13pkZeDP1yAD86FW5V4Dr', body.id);
    for (const [shown, id] of await approvals(group)) real.set(shown, id);
    symlinkSync(join(ROOT, 'porter'), join(folder, 'porter'));
    mkdirSync(join(folder, '.porter'));
    writeFileSync(join(folder, '.porter/demo-key'), key);
    return () => receiver.close();
  });

  /** Two that somebody else asked for, and one of this operator that somebody else has approved. */
  async function approvals(group: string): Promise<[string, string][]> {
    const { databaseUrl, clock } = harness;
    const asking = await startHarness({
      databaseUrl,
      clock,
      env: { PORTER_ROLE: 'api', PORTER_APPROVALS: 'networks' },
    });
    const { token } = await harness.operator('POST', '/operators', { name: 'Ada Marsh', role: 'admin' });
    // An operator approves nothing that is as old as it is.
    clock.advance(1);
    const ask = async (by: string): Promise<string> => {
      const network = { name: 'Waits', practice_group_ids: [group] };
      return (await asking.send('POST', '/operator/v1/networks', { token: by, body: network })).body.id;
    };
    const mine = await ask(OPERATOR_TOKEN);
    await asking.send('POST', `/operator/v1/approvals/${mine}/approve`, { token });
    return [
      ['apv_00Vb13pkZeDP1yAD86FW5V4Dr', await ask(token)],
      ['apv_00Vb1rC4xZeDP1yAD86FW5V4Dr', await ask(token)],
      ['apv_00Vb1sTWL2BSKL8Veuh7YiGO1', mine],
    ];
  }

  const pasted = (code: string) =>
    [...real].reduce((text, [shown, here]) => text.replaceAll(shown, here), code);

  /** Without what differs from run to run. */
  const alike = (text: string) =>
    text
      .replaceAll(harness.url, 'http://127.0.0.1:8080')
      .replaceAll(/\b(prt|key|net|evt|wh|dlv|test)_\w+/g, '$1_…')
      .replaceAll(/\d\d:\d\d:\d\d|\d+ ms/g, '…')
      .trim();

  it.each(blocks)('$code', async ({ code, output }) => {
    const script = pasted(code);
    const listens = /porter listen(?!.*--print-secret)/.test(code);
    const child = spawn(
      'sh',
      ['-c', `set -e\n${script.replace('./porter listen', 'exec ./porter listen')}`],
      {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder, PORTER_URL: harness.url },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      if (listens) child.kill('SIGINT');
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
      // What `listen` shows has to happen first.
      if (text.includes('Listening.')) void harness.send('POST', '/v1/test-events', testEvent());
    });
    const exit = await new Promise((resolve) => child.once('close', resolve));
    expect(exit, stderr).toBe(listens ? 130 : 0);
    if (output !== undefined) expect(alike(stdout)).toBe(alike(output));
    remember(stdout);
  });

  const testEvent = () => ({
    key: real.get('ptr_test_YOUR_KEY'),
    group: 'riverside-surgery',
    body: { event: 'appointment.confirmed' },
  });

  /** The guide goes on with what a command made. */
  function remember(stdout: string): void {
    for (const [id, prefix] of stdout.matchAll(/\b(prt|key|net|evt|opr)_\w{25}\b/g))
      real.set(`${prefix}_00Vb13pkZeDP1yAD86FW5V4Dr`, id);
    const [delivery] = /\bdlv_\w+/.exec(stdout) ?? [];
    if (delivery) real.set('dlv_00Vb13pkZeDP1yAD86FW5V4Dr_1_00Vb1rC4x', delivery);
  }

  it('run every command but serve', () => {
    const run = blocks.map(({ code }) => code).join('\n');
    const missing = commands.filter(({ name }) => !run.includes(`./porter ${name}`)).map(({ name }) => name);
    expect(missing).toEqual(['serve', 'profiles remove']);
  });
});
