import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/afterwards.ts';
import { blocksOf, ROOT } from '../support/examples.ts';
import { run, startDemo } from '../support/examples-world.ts';
import { dice } from '../support/fault-loops.ts';
import { freePort, until } from '../support/porter-process.ts';
import { killBothSidesUnderTraffic, practiceSoftware } from '../support/practice-loops.ts';
import { RealClock } from '../support/real-clock.ts';
import { seedOf } from '../support/seed.ts';
import { type Loose, makeWorld, OPERATOR_TOKEN, startHarness } from '../support/service.ts';

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
