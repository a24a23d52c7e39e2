import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { Porter } from '../../../packages/sdk/src/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { makeProject, type Program, rehearsePublishing } from '../../support/sdk-project.ts';
import { startHarness } from '../../support/service.ts';

/** The library as a partner gets it: packed, installed into an empty project, compiled and run against a service. */

const ROOT = resolve(import.meta.dirname, '../../..');
const README = 'packages/sdk/README.md';
const GUIDE = 'docs/guides/client-library.md';
const textOf = (page: string) => readFileSync(resolve(ROOT, page), 'utf8');

const house = await startHarness({
  env: { PORTER_DEMO: 'on' },
  clock: new ManualClock(new Date().toISOString()),
});
const project = await makeProject();
afterAll(() => project.remove());

const client = () => `new Porter({
  baseUrl: '${house.url}', apiKey: '${house.service.demoKey}', practiceGroupId: 'hillview-hub' })`;

describe('the package', () => {
  it('brings nothing along', () => {
    expect(project.installed).toEqual(['@porter/sdk']);
  });

  it('holds what is built, its description, and nothing else', () => {
    const paths = project.packed.files.map(({ path }) => path);
    expect(paths.filter((path) => !/^dist\/(generated\/)?\w+\.(js|d\.ts)$/.test(path))).toEqual([
      'CHANGELOG.md',
      'README.md',
      'package.json',
    ]);
  });

  it('could be published as it is', async () => {
    expect(await rehearsePublishing('sdk')).toEqual([]);
    const { version, publishConfig } = JSON.parse(textOf('packages/sdk/package.json'));
    expect(publishConfig).toEqual({ access: 'public', provenance: true });
    expect(textOf('packages/sdk/CHANGELOG.md')).toContain(`## ${version}\n`);
  });

  it('is as small as its description says', () => {
    const [, packed, unpacked] = /(\d+) kB gzipped and (\d+) kB unpacked/.exec(textOf(README)) ?? [];
    const { size, unpackedSize } = project.packed;
    console.log(`@porter/sdk: ${size} bytes packed, ${unpackedSize} unpacked`);
    expect(Math.abs(size / 1000 - Number(packed))).toBeLessThan(3);
    expect(Math.abs(unpackedSize / 1000 - Number(unpacked))).toBeLessThan(8);
  });

  it('is an ES module that require takes too', async () => {
    const file = project.write('required.cjs', "console.log(typeof require('@porter/sdk').verifyWebhook)");
    expect(await project.run(file)).toBe('function\n');
  });

  it('has a description that leads nowhere outside of it', () => {
    expect(textOf(README)).not.toMatch(/\]\((?!https:)/);
  });

  it('has types that older compilers know', () => {
    const types = project.packed.files.filter(({ path }) => path.endsWith('.d.ts'));
    for (const { path } of types)
      expect(readFileSync(resolve(ROOT, 'packages/sdk', path), 'utf8'), path).not.toMatch(
        /Array<ArrayBuffer/,
      );
  });

  it('needs nothing of Node', () => {
    const sources = project.packed.files.filter(({ path }) => path.endsWith('.js'));
    for (const { path } of sources) {
      const code = readFileSync(resolve(ROOT, 'packages/sdk', path), 'utf8');
      expect(code.match(/from '(?!\.)[^']*'|require\(|\bprocess\.|\bBuffer\b/g), path).toBeNull();
    }
  });
});

const EVERYTHING = `
import { Porter, PorterApiError, verifyWebhook, WebhookVerificationError, type EventPayload } from '@porter/sdk';
import { webhookHandler } from '@porter/sdk/fetch';

export const porter: Porter = PORTER;

const created = await porter.webhooks.create({ url: 'http://127.0.0.1:19999/hooks', description: null });
const seen: string[] = [];
for await (const webhook of porter.webhooks.list()) seen.push(webhook.id);
console.log(seen.includes(created.id));

const { next_cursor: cursor } = await porter.events.list();
const { event_id } = await porter.events.trigger({ event: 'prescription.issued' });
for await (const event of porter.events.follow({ cursor, signal: AbortSignal.timeout(120_000) })) {
  console.log(event.id === event_id, event.data.event, event.cursor !== cursor);
  break;
}

await porter.webhooks.delete(created.id);
const error: unknown = await porter.webhooks.get(created.id).catch((error) => error);
if (error instanceof PorterApiError) console.log(error.problem.error, (await porter.requests.get(error.requestId ?? '')).status);

const nothing = new Request('https://partner.example/hooks', { method: 'POST', body: '{}' });
const refused: unknown = await verifyWebhook(nothing, created.secret).catch((error) => error);
console.log(refused instanceof WebhookVerificationError && refused.reason);

const handle: (request: Request) => Promise<Response> = webhookHandler({
  secret: created.secret,
  onEvent({ data }) {
    return nameOf(data);
  },
});
console.log((await handle(new Request('https://partner.example/hooks', { method: 'POST', body: '{}' }))).status);

function nameOf(data: EventPayload): string {
  switch (data.event) {
    case 'appointment.confirmed': case 'appointment.rescheduled': case 'appointment.cancelled':
      return data.id;
    case 'appointment.booking-failed': case 'appointment.cancel-failed': case 'appointment.reschedule-failed':
      return data.failure_reason ?? data.id;
    case 'form-submission.created': case 'prescription.issued': case 'patient.added-to-sequence':
      return data.practice_group_id;
    case 'write-to-record.succeeded': case 'write-to-record.failed':
      return data.resource_id;
    case 'ehr.health_status.healthy': case 'ehr.health_status.unhealthy':
      return data.object;
    case 'unknown':
      return data.name;
  }
}
`;

const TYPES = `
import type { Porter, SubmissionType, SubmissionTypePatch } from '@porter/sdk';
declare const porter: Porter;
declare const type: SubmissionType;

const limit: number | null = type.daily_limit;
const today: number | undefined = type.forms_submitted_today;
export const patches: SubmissionTypePatch[] = [{}, { daily_limit: null }, { daily_limit: limit ?? today ?? 1 }, { title: 'A' }];
// @ts-expect-error: a title cannot be taken away.
patches.push({ title: null });
// @ts-expect-error: nor can it be a number.
patches.push({ title: 7 });
// @ts-expect-error: there is no such field.
patches.push({ titel: 'A' });
// @ts-expect-error: what a limit is may be nobody's limit.
type.daily_limit.toFixed();
EXACT patches.push({ title: undefined });

porter.submissionTypes.update('symptoms', { suspended: true }, { ifMatch: undefined });
// @ts-expect-error: this operation does not look at it.
porter.webhooks.create({ url: 'https://partner.example' }, { ifMatch: '"1"' });
porter.webhooks.create({ url: 'https://partner.example' }, { idempotencyKey: 'once' });
// @ts-expect-error: only a POST has one.
porter.webhooks.update('wh_1', { status: 'paused' }, { idempotencyKey: 'once' });
porter.events.trigger({ event: 'prescription.issued' }, { idempotencyKey: 'once' });
// @ts-expect-error: a webhook has an address.
porter.webhooks.create({});
// @ts-expect-error: there is no such event.
porter.webhooks.create({ url: 'https://partner.example', event_types: ['appointment.forgotten'] });

porter.webhooks.replay('wh_1', { since: '2026-11-14T06:00:00Z' });
porter.webhooks.replay('wh_1', { event_ids: ['evt_1'] });
// @ts-expect-error: one of the two.
porter.webhooks.replay('wh_1', {});
// @ts-expect-error: not both.
porter.webhooks.replay('wh_1', { since: '2026-11-14T06:00:00Z', event_ids: ['evt_1'] });
`;

describe('a program', () => {
  const everything = () => project.write('everything.ts', EVERYTHING.replace('PORTER', client()));
  const surroundings = {
    'a browser or Deno': { lib: ['es2022', 'dom'], types: [] },
    'a worker': { lib: ['es2022', 'webworker'], types: [] },
    'a worker, bundled': {
      lib: ['es2022', 'webworker'],
      types: [],
      module: 'esnext',
      moduleResolution: 'bundler',
    },
    Node: { lib: ['es2022'], types: ['node'] },
  };

  it.each(Object.entries(surroundings))('compiles in %s, with every check', async (_name, options) => {
    expect(await project.compile([everything()], { ...options, skipLibCheck: false })).toBe('');
  });

  it('compiled, does what it says against a running service', async () => {
    const options = { ...surroundings.Node, noEmit: false, outDir: '.' };
    expect(await project.compile([everything()], options)).toBe('');
    expect((await project.run('everything.js')).split('\n')).toEqual([
      'true',
      'true prescription.issued true',
      'not_found 404',
      'missing_header',
      '400',
      '',
    ]);
  });

  it('is told by the compiler that null, left out and wrong are three things', async () => {
    const exact = TYPES.replace('EXACT', '// @ts-expect-error: undefined is not left out.\n');
    const file = project.write('types.ts', exact);
    expect(await project.compile([file], { ...surroundings.Node, exactOptionalPropertyTypes: true })).toBe(
      '',
    );
    const loose = project.write('types-loose.ts', TYPES.replace('EXACT', ''));
    expect(await project.compile([loose], surroundings['a worker'])).toBe('');
  });
});

it('the samples of the reference compile', async () => {
  const { paths } = JSON.parse(textOf('spec/openapi.json'));
  const operations = Object.values<object>(paths).flatMap((item) => Object.values(item));
  const samples = operations.flatMap((one) => one['x-codeSamples'] ?? []);
  const files = samples
    .filter(({ lang }) => lang === 'typescript')
    .map(({ source }, at) => project.write(`sample-${at}.ts`, source));
  expect(files.length).toBe(operations.filter(({ operationId }) => operationId).length);
  const options = { lib: ['es2022'], types: ['node'], skipLibCheck: true };
  expect(await project.compile(files, options)).toBe('');
});

interface Example {
  name: string;
  code: string;
  /** What the page shows below it, if it does. */
  output: string | undefined;
}

function examplesOf(page: string): Example[] {
  const blocks = [...textOf(page).matchAll(/^```(\w+)( output)?\n(.*?)^```$/gms)];
  return blocks.flatMap(([, language, , code = ''], at) =>
    language === 'ts'
      ? [
          {
            name: `${page.replaceAll(/\W/g, '-')}-${at}.ts`,
            code,
            output: blocks[at + 1]?.[2] && blocks[at + 1]?.[3],
          },
        ]
      : [],
  );
}

describe('the pages', () => {
  const examples = [README, GUIDE].flatMap(examplesOf);
  const kindOf = ({ code }: Example) => {
    if (code.includes('webhookHandler') || code.includes('webhookPlugin')) return 'receiver';
    return code.includes('.follow(') ? 'follower' : 'program';
  };
  const of = (kind: string) => examples.filter((example) => kindOf(example) === kind);

  const fill = ({ name, code }: Example, port = 3000) =>
    project.write(
      name,
      code
        .replaceAll('http://127.0.0.1:8080', house.url)
        .replaceAll('ptr_test_YOUR_KEY', house.service.demoKey ?? '')
        .replaceAll('3000', String(port)),
    );
  const start = (file: string, env?: Record<string, string>): Program => {
    const program = project.start(file, env);
    onTestFinished(() => program.stop());
    return program;
  };
  const porter = () =>
    new Porter({
      baseUrl: house.url,
      apiKey: house.service.demoKey ?? '',
      practiceGroupId: 'riverside-surgery',
    });

  it('have examples of every kind', () => {
    expect(['program', 'follower', 'receiver'].map((kind) => of(kind).length)).toEqual([7, 1, 4]);
  });

  it('have examples that compile', async () => {
    const files = examples.map((example) => fill(example));
    const options = {
      lib: ['es2022'],
      types: ['node'],
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
    };
    expect(await project.compile(files, options)).toBe('');
  });

  it.each(of('program'))('$name prints what is shown', async (example) => {
    expect(await project.run(fill(example))).toBe(example.output ?? '');
  });

  it.each(of('follower'))('$name hears of what happens', async (example) => {
    const program = start(fill(example));
    await expect.poll(() => house.service.app.streams.count).toBe(1);
    await porter().events.trigger({ event: 'appointment.confirmed' });
    expect(await program.line(/appointment/)).toBe(example.output?.trim());
  });

  it.each(of('receiver'))('$name receives what the service delivers', async (example) => {
    // It accepts what was signed within the last five minutes, and the tests before it may have taken longer.
    house.clock.set(new Date().toISOString());
    const port = await freePort();
    const { id, secret } = await porter().webhooks.create({ url: `http://127.0.0.1:${port}/hooks` });
    const isServer = example.code.includes('listen(');
    const file = fill(example, port);
    const program = start(isServer ? file : project.write(`serve-${file}`, serving(file, port)), {
      WEBHOOK_SECRET: secret,
    });
    await expect.poll(() => isListening(port)).toBe(true);
    const { delivery_id } = await porter().webhooks.test(id, { event: 'appointment.confirmed' });
    expect(await program.line(/confirmed/)).toMatch(/confirmed/);
    const delivered = () => porter().webhooks.getDelivery(id, delivery_id);
    await expect.poll(async () => (await delivered()).status).toBe('delivered');
    expect((await delivered()).attempts).toMatchObject([{ outcome: 'delivered' }]);
    const { attempts } = await house.operator('GET', `/deliveries/${delivery_id}`);
    expect(attempts).toMatchObject([{ status: 204 }]);
    await porter().webhooks.delete(id);
  });
});

/** A server around what edge runtimes expect of a module: `export default { fetch }`. */
const serving = (file: string, port: number) => `
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import receiver from './${file}';

createServer(async (request, response) => {
  const { method, headers } = request;
  const body = Readable.toWeb(request);
  const answer = await receiver.fetch(new Request('http://receiver.test', { method, headers, body, duplex: 'half' }));
  response.writeHead(answer.status).end(await answer.text());
}).listen(${port});
`;

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

const isListening = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST' }).then(
    () => true,
    () => false,
  );
