import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../support/afterwards.ts';
import { blocksOf, ROOT } from '../../support/examples.ts';
import { run, startDemo } from '../../support/examples-world.ts';
import { dice } from '../../support/fault-loops.ts';
import { freePort, until } from '../../support/porter-process.ts';
import { killBothSidesUnderTraffic, practiceSoftware } from '../../support/practice-loops.ts';
import { RealClock } from '../../support/real-clock.ts';
import { startReceiver } from '../../support/receiver.ts';
import { seedOf } from '../../support/seed.ts';
import { type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

/** examples/practice-software, and a short round of the loop in test/faults. */

it('examples/practice-software takes what partners change, and says what it does not take', async () => {
  const house = await startHarness({ clock: new RealClock() });
  const software = await practiceSoftware(house.url);
  const { secret } = await house.operator('POST', '/subscriptions', {
    url: software.url,
    topics: ['changes'],
  });
  const { token } = await house.operator('POST', '/operators', { name: 'Practice software', role: 'source' });
  await software.start(token, [secret]);
  const { key, groupId: group } = await makeWorld(house);
  const path = '/v1/care-nav/submission-types/type-1';
  const patch = (body: unknown) => house.send('PATCH', path, { key, group, body });
  await patch({ title: 'Taken' });
  await patch({ daily_limit: 501 });
  const states = async () =>
    (await house.send('GET', `${path}/changes`, { key, group })).body.data.map(
      (one: { state: string }) => one.state,
    );
  await until('both are answered', async () => (await states()).join() === 'rejected,applied');
  expect((await software.shown()).settings).toEqual({ [`${group} type-1`]: { title: 'Taken' } });
  const [rejected] = (await house.operator('GET', '/changes?state=rejected')).data;
  expect(rejected.reason).toBe('We cannot answer more than 500 of these a day.');
});

it('examples/practice-software keeps a change that it was asked about, when it reads an earlier one in the feed afterwards', async () => {
  const signer = new Webhook(`whsec_${Buffer.alloc(32, 1).toString('base64')}`);
  const change = (id: string, title: string, before: object = { title: 'Before' }) => ({
    id,
    kind: 'submission_type',
    practice_group_id: 'practice',
    object_id: 'type-1',
    before,
    after: { title },
  });
  /** Stands for Porter: its feed has the changes in `data`. */
  const data: object[] = [];
  const porter = await startReceiver({
    behaviour: (response, { path }) => {
      const page = { data: path.includes('cursor=') ? [] : data, next_cursor: data.length > 0 ? 'end' : '' };
      response.writeHead(200).end(JSON.stringify({ ...page, has_more: false }));
    },
  });
  onTestFinished(() => porter.close());
  const software = await practiceSoftware(new URL(porter.url).origin);
  await software.start('', [`whsec_${Buffer.alloc(32, 1).toString('base64')}`]);
  const send = async (event: string, sent: { id: string }) => {
    const body = JSON.stringify({ event, ...sent });
    const at = new Date();
    const answer = await fetch(software.url, {
      method: 'POST',
      body,
      headers: {
        'webhook-id': sent.id,
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': signer.sign(sent.id, at, body),
      },
    });
    return answer.status;
  };
  const title = async () => (await software.shown()).settings['practice type-1']?.title;

  expect(await send('change.proposed', change('chg_asked', 'Asked'))).toBe(200);
  expect(await send('change.proposed', change('chg_asked_later', 'Asked later'))).toBe(200);
  expect(await title()).toBe('Asked later');
  data.push(
    { ...change('chg_earlier', 'Earlier'), state: 'pending' },
    { ...change('chg_asked', 'Asked'), state: 'applied' },
  );
  await expect.poll(async () => (await software.shown()).cursor).toBe('end');
  expect(await title()).toBe('Asked later');
  // The withdrawal has another value than the proposal.
  expect(await send('change.withdrawn', change('chg_asked_later', 'Asked later', { title: 'Now' }))).toBe(
    204,
  );
  expect(await title()).toBe('Now');
});

it('examples/practice-software says that its port is taken', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void taken.close());
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const env = {
    PATH: process.env.PATH ?? '',
    PORT: String(port),
    JOURNAL: join(temporaryFolder(), 'journal'),
  };
  expect(
    await run(process.execPath, ['examples/practice-software/main.ts'], { folder: ROOT, env }),
  ).toMatchObject({
    code: 1,
    stderr: `Port ${port} is taken. Set PORT to another one.\n`,
  });
});

it('docs/operating/practice-software.md: what it says, pasted into a shell, connects the two', async () => {
  const demo = await startDemo();
  const { stand, porter } = demo;
  const port = await freePort();
  const script = blocksOf('docs/operating/practice-software.md')
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => stand.toReal(code).replaceAll('3001', String(port)))
    .join('\n');
  const shell = spawn('bash', ['-e'], { cwd: demo.folder, env: demo.env, detached: true });
  // With all that it has started.
  onTestFinished(() => void (shell.pid && process.kill(-shell.pid, 'SIGKILL')));
  let printed = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
    });
  shell.stdin.write(`${script}\nprintf '\\ndone\\n'\n`);
  await until(
    () => printed,
    () => printed.includes('\ndone\n'),
  );
  const operator = async (path: string) =>
    (
      await fetch(`${porter.url}/operator/v1${path}`, {
        headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
      })
    ).json();
  const states = async () =>
    ((await operator('/changes')) as Loose).data.map(({ state }: Loose) => state).join();
  await until(
    () => printed,
    async () => (await states()) === 'applied,rejected',
  );
  expect(((await operator('/subscriptions')) as Loose).count).toBe(1);
  expect(await operator('/practice-groups/riverside-surgery/write-through')).toMatchObject({
    status: 'active',
  });
});

it('Porter, PostgreSQL and the practice software are killed under traffic: both sides end up equal', async () => {
  const roll = dice(seedOf('practice software', 1));
  const random = () => roll(1_000_000) / 1_000_000;
  console.log('practice software:', await killBothSidesUnderTraffic({ changes: 400, kills: 3, random }));
});
