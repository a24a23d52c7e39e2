import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { receiver as webhookReceiver } from '../../../packages/sdk/src/receive.ts';
import { STREAMS_PER_KEY_MAX } from '../../../src/contract/partner/events.ts';
import { newSecret } from '../../../src/domain/events/signature.ts';
import { temporaryFolder } from '../../support/afterwards.ts';
import { type Running, porter as run, type Surroundings, start } from '../../support/cli.ts';
import { until } from '../../support/porter-process.ts';
import { ok, type Receiver, startReceiver, status } from '../../support/receiver.ts';
import { makeKey, makeWorld, OPERATOR_TOKEN, serviceForTests } from '../../support/service.ts';

const { house: harness, world } = await serviceForTests();
const { groupId: group, key } = world;
const cwd = temporaryFolder();

const inWorld = (surroundings: Surroundings = {}): Surroundings => ({
  cwd,
  ...surroundings,
  env: { PORTER_URL: harness.url, PORTER_KEY: key, PORTER_GROUP: group, ...surroundings.env },
});
const porter = (line: string, surroundings?: Surroundings) => run(line, inWorld(surroundings));

async function receiving(behaviour = ok): Promise<Receiver> {
  const receiver = await startReceiver({ behaviour });
  onTestFinished(() => receiver.close());
  return receiver;
}

/** Starts it and waits until it listens; it is stopped after the test. */
async function listening(line: string, surroundings?: Surroundings): Promise<Running> {
  const running = start(line, inWorld(surroundings));
  onTestFinished(async () => {
    running.stop();
    await running.ended;
  });
  await said(running, 'Listening.');
  return running;
}

const said = (running: Running, text: string) =>
  until(
    () => `"${text}" in ${running.stderr()}`,
    () => running.stderr().includes(text),
  );
const printed = (running: Running, count: number) =>
  until(
    () => `${count} lines in ${running.stdout()}`,
    () => running.stdout().split('\n').length > count,
  );

const publish = (id: string, event = 'appointment.confirmed') =>
  harness.operator('POST', '/events', { object: 'Appointment', id, practice_group_id: group, event });

describe('me', () => {
  it.each(['me', 'whoami'])(
    '%s shows the partner, the key and its practice groups, without a group',
    async (name) => {
      const surroundings = { env: { PORTER_GROUP: '' } };
      const { code, stdout } = await porter(name, surroundings);
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /^Partner \(prt_\w+\)\nKey key_\w+: 300 calls a minute, does not expire\.\nGROUP /,
      );
      expect(stdout).toContain(group);
      const { json } = await porter(`${name} --json`, surroundings);
      expect(json).toMatchObject({ key: { label: null }, practice_groups: [{ id: group, through: null }] });
    },
  );
});

describe('trigger', () => {
  it('causes a test event that listen shows', async () => {
    const listener = await listening('listen');
    const { code, json } = await porter('trigger appointment.cancelled --json');
    expect(code).toBe(0);
    await printed(listener, 1);
    expect(listener.stdout()).toMatch(
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d  appointment\\.cancelled  test_\\w+  ${json.event_id}\n$`),
    );
    expect((await porter('trigger appointment.confirmed')).stdout).toMatch(
      /^appointment\.confirmed is on its way: evt_/,
    );
    // Else the next listener might be the one to hear of it.
    await printed(listener, 2);
  });

  it('is refused in production with the rule that it breaks', async () => {
    const refusal = {
      error: 'business_rule_violation',
      statusCode: 422,
      message: 'Staging only.',
      rule: 'staging_only',
      path: ['event'],
    };
    const fetch = async () => Response.json(refusal, { status: 422 });
    expect(
      await porter('trigger appointment.confirmed', { fetch: fetch as typeof globalThis.fetch }),
    ).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Error: Staging only. (event)'),
    });
  });
});

describe('listen', () => {
  it('ends with 130 at Ctrl-C', async () => {
    const listener = await listening('listen');
    listener.stop();
    expect(await listener.ended).toBe(130);
  });

  it('says what to end when as many listen as may', async () => {
    const { key: theirs, groupId } = await makeWorld(harness);
    const env = { PORTER_KEY: theirs, PORTER_GROUP: groupId };
    for (let count = 0; count < STREAMS_PER_KEY_MAX; count++) await listening('listen', { env });
    const { code, stderr } = await porter('listen', { env });
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('\n  End another `porter listen` that uses this key.\n'),
    ]);
  });

  it('prints JSON lines, and only the events that were asked for', async () => {
    const listener = await listening('listen --json --events appointment.confirmed');
    await publish('a2', 'appointment.cancelled');
    const { event_ids } = await publish('a2');
    await printed(listener, 1);
    expect(JSON.parse(listener.stdout())).toEqual({
      id: event_ids[0],
      created_at: expect.any(String),
      data: { object: 'Appointment', id: 'a2', practice_group_id: group, event: 'appointment.confirmed' },
      forwarded: null,
    });
  });

  it('forwards what a real delivery would be, signed with a secret that stays the same', async () => {
    const { stdout } = await porter('listen --print-secret');
    const secret = stdout.trim();
    const receiver = await receiving();
    const listener = await listening(`listen --forward-to ${receiver.url}`);
    expect(listener.stderr()).toContain(`Forwarding to ${receiver.url}, signed with ${secret}\n`);
    const { event_ids } = await publish('a3');
    await printed(listener, 1);
    expect(listener.stdout()).toMatch(/ {2}appointment\.confirmed {2}a3 {2}evt_\w+ → 200 \(\d+ ms\)\n$/);

    const [request] = receiver.received;
    expect(request?.headers).toMatchObject({
      'webhook-id': event_ids[0],
      'webhook-sequence': '1',
      'content-type': 'application/json',
      'user-agent': 'Porter/1.0',
    });
    const headers = request?.headers as Record<string, string>;
    // The service's clock stands still in tests; the signature is as of this machine's.
    expect(new Webhook(secret).verify(request?.body ?? '', headers)).toMatchObject({ id: 'a3' });
    expect((await porter('listen --print-secret')).stdout.trim()).toBe(secret);
  });

  it('signs with another secret if told to', async () => {
    const secret = newSecret((count) => Buffer.alloc(count, 7));
    const receiver = await receiving();
    const listener = await listening(`listen --forward-to ${receiver.url.replace('http://', '')}`, {
      env: { WEBHOOK_SECRET: secret },
    });
    expect(listener.stderr()).toContain('signed with the secret in WEBHOOK_SECRET\n');
    const print = await porter('listen --print-secret', { env: { WEBHOOK_SECRET: secret } });
    expect(listener.stderr() + print.stdout).not.toContain(secret);
    await publish('a4');
    await until('it was forwarded', () => receiver.received.length === 1);
    const [request] = receiver.received;
    expect(() =>
      new Webhook(secret).verify(request?.body ?? '', request?.headers as Record<string, string>),
    ).not.toThrow();
  });

  it('forwards to a port of this machine', async () => {
    const receiver = await receiving();
    const { port } = new URL(receiver.url);
    const listener = await listening(`listen --forward-to ${port}`);
    expect(listener.stderr()).toContain(`Forwarding to http://127.0.0.1:${port}/, signed with`);
    await publish('a8');
    await printed(listener, 1);
    expect(receiver.received).toMatchObject([{ method: 'POST', path: '/' }]);
    expect(await porter('listen --forward-to 70000')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('"70000" is not an address.'),
    });
  });

  it('refuses a WEBHOOK_SECRET that is none, without repeating it', async () => {
    const { code, stderr } = await porter('listen', { env: { WEBHOOK_SECRET: 'hush' } });
    expect(stderr).toContain('WEBHOOK_SECRET is not the secret of a webhook.');
    expect(stderr).not.toContain('hush');
    expect(code).toBe(2);
  });

  it('shows what the receiver refuses, and goes on when it is not there', async () => {
    const receiver = await receiving(status(500, {}, 'é'.repeat(2_000)));
    const listener = await listening(`listen --json --forward-to ${receiver.url}`);
    await publish('a5');
    await printed(listener, 1);
    await receiver.setBehaviour('refuse');
    await publish('a6');
    await printed(listener, 2);
    const [refused, gone] = listener
      .stdout()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).forwarded);
    const duration_ms = expect.any(Number);
    expect(refused).toEqual({ status: 500, error: null, answer: 'é'.repeat(512), duration_ms });
    expect(gone).toEqual({ status: null, error: 'ECONNREFUSED', answer: null, duration_ms });
  });

  it('shows why a receiver with another secret rejects what is forwarded', async () => {
    const errors: unknown[] = [];
    const handle = webhookReceiver({
      secret: newSecret((count) => Buffer.alloc(count, 9)),
      onEvent: () => {},
      onError: (error) => errors.push(error),
    });
    const server = await receiving(async (response, { headers, body }) => {
      const answer = await handle(headers, body);
      response.writeHead(answer.status).end(answer.body);
    });
    const listener = await listening(`listen --forward-to ${server.url}`);
    await publish('a7');
    await printed(listener, 2);
    expect(listener.stdout()).toMatch(/ → 401 \(\d+ ms\)\n {10}no_matching_signature: .* Check the secret/);
    expect(errors).toMatchObject([{ reason: 'no_matching_signature' }]);
  });

  it('keeps the order of each object', async () => {
    const seen: string[] = [];
    const waiting: (() => void)[] = [];
    const receiver = await receiving((response, { body }) => {
      seen.push(JSON.parse(body).event);
      waiting.push(() => response.writeHead(204).end());
    });
    const listener = await listening(`listen --forward-to ${receiver.url}`);
    await publish('same', 'appointment.confirmed');
    await publish('same', 'appointment.cancelled');
    await publish('other', 'appointment.rescheduled');
    await until('two are under way', () => seen.length === 2);
    // Objects have no order among each other: which of the two begins is chance.
    expect(seen.toSorted()).toEqual(['appointment.confirmed', 'appointment.rescheduled']);
    for (const answer of waiting.splice(0)) answer();
    await until('the third is under way', () => seen.length === 3);
    expect(seen[2]).toBe('appointment.cancelled');
    waiting.pop()?.();
    await printed(listener, 3);
  });

  it('ends with what the API says when the key is refused, and with 3 when nothing answers', async () => {
    const refused = await porter('listen', { env: { PORTER_KEY: 'ptr_test_x' } });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('/docs/errors/invalid_credentials'),
    });
    const nowhere = await porter('listen', { env: { PORTER_URL: 'http://127.0.0.1:1' } });
    expect(nowhere).toMatchObject({ code: 3, stderr: expect.stringContaining('Nothing answers') });
  });
});

describe('a stream that breaks off', () => {
  type Turn = (write: (text: string) => void, lastEventId: string | undefined, end: () => void) => void;
  const event = (id: string) =>
    `id: cursor-${id}\nevent: appointment.confirmed\ndata: ${JSON.stringify({ id: `evt_${id}`, created_at: '', data: { id, event: 'appointment.confirmed' } })}\n\n`;

  /** A service that behaves differently with each connection. */
  async function serving(turns: (Turn | number)[]): Promise<{ url: string; ids: (string | undefined)[] }> {
    const ids: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      const turn = turns[ids.length];
      const lastEventId = request.headers['last-event-id'] as string | undefined;
      ids.push(lastEventId);
      if (typeof turn === 'number') {
        response
          .writeHead(turn, { 'content-type': 'application/json' })
          .end('{"error":"conflict","message":"Refused."}');
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      turn?.(
        (text) => response.write(text),
        lastEventId,
        () => response.destroy(),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, ids };
  }

  /** Time passes at once, except for the watch over silence. */
  function clockOf(waits: number[]) {
    return {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      sleep: (milliseconds: number) => {
        if (milliseconds > 40_000) return new Promise<void>(() => {});
        if (milliseconds === 1_000) return new Promise<void>(() => {});
        waits.push(milliseconds);
        return Promise.resolve();
      },
    };
  }

  it('is resumed where it broke, and says so', async () => {
    const { url, ids } = await serving([
      (write, _id, end) => {
        write('retry: 2000\nid: cursor-0\n\n');
        setImmediate(end);
      },
      503,
      409,
      (write, _id, end) => {
        write(event('1'));
        write(event('2').slice(0, 30));
        setImmediate(end);
      },
      (write) => write(event('2')),
    ]);
    const waits: number[] = [];
    const listener = await listening('listen', {
      env: { PORTER_URL: url },
      clock: clockOf(waits),
      random: () => Buffer.of(128),
    });
    await printed(listener, 2);
    expect(listener.stdout().match(/evt_\w+/g)).toEqual(['evt_1', 'evt_2']);
    expect(ids).toEqual([undefined, 'cursor-0', 'cursor-0', 'cursor-0', 'cursor-1']);
    expect(waits).toEqual([2_000, 4_000, 8_000, 2_000]);
    expect(listener.stderr()).toMatch(
      /The stream broke off[\s\S]*Connecting again in 2 s, from where it stopped\.[\s\S]*Connected again\./,
    );
  });

  it('ends when the key has lost its access', async () => {
    const { url } = await serving([(_write, _id, end) => end(), 403]);
    const running = start('listen', inWorld({ env: { PORTER_URL: url }, clock: clockOf([]) }));
    expect(await running.ended).toBe(1);
    expect(running.stderr()).toContain('Error: Refused.');
  });

  it('is noticed when nothing is heard any more', async () => {
    const { url, ids } = await serving([(write) => write('id: cursor-9\n\n'), () => {}]);
    const passed = Promise.withResolvers<void>();
    let monotonic = 0;
    const clock = {
      now: () => Date.now(),
      monotonic: () => monotonic,
      sleep: (milliseconds: number) =>
        milliseconds > 40_000 && ids.length === 1
          ? passed.promise
          : new Promise<void>((resolve) => setImmediate(milliseconds > 40_000 ? () => {} : resolve)),
    };
    const listener = await listening('listen', { env: { PORTER_URL: url }, clock });
    await until('the cursor was heard', () => ids.length === 1);
    monotonic = 100_000;
    passed.resolve();
    await said(listener, 'nothing was heard for 45 s');
    await until('it connected again', () => ids.length === 2);
  });
});

describe('resend', () => {
  it('says why a webhook is disabled', async () => {
    const receiver = await receiving(status(410));
    const { key: theirs } = await makeKey(harness, group);
    const made = await harness.send('POST', '/v1/webhooks', {
      key: theirs,
      group,
      body: { url: receiver.url },
    });
    const { event_ids } = await publish('gone');
    const path = `/v1/webhooks/${made.body.id}`;
    const read = async () => (await harness.send('GET', path, { key: theirs, group })).body;
    await expect.poll(async () => (await read()).status).toBe('disabled');
    const { status_reason } = await read();
    expect(status_reason).toMatch(/\w/);
    const env = { PORTER_KEY: theirs };
    expect((await porter(`resend ${event_ids[0]}`, { env })).stdout).toBe(
      `Queued: ${made.body.id} is disabled (${status_reason}). Activate it: porter webhooks activate ${made.body.id}\n`,
    );
    expect((await porter('status', { env })).stdout).toMatch(
      new RegExp(`Webhook ${made.body.id} .* is disabled \\(${status_reason}\\); 1 waits\\.`),
    );
  });

  it('picks the only webhook, and says which there are if there are several', async () => {
    const receiver = await receiving();
    const { key: theirs } = await makeKey(harness, group);
    const env = { PORTER_KEY: theirs };
    const { event_ids } = await publish('r1');
    const [id] = event_ids;
    expect(await porter(`resend ${id}`, { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no webhook'),
    });

    const make = (body: object) => harness.send('POST', '/v1/webhooks', { key: theirs, group, body });
    const first = (await make({ url: receiver.url })).body.id;
    const { code, stdout } = await porter(`resend ${id}`, { env });
    expect([code, stdout]).toEqual([0, `1 on the way to ${first}.\n`]);
    await until('it arrived', () => receiver.received.some(({ body }) => JSON.parse(body).id === 'r1'));

    const patch = (body: object) =>
      harness.send('PATCH', `/v1/webhooks/${first}`, { key: theirs, group, body });
    await patch({ status: 'paused' });
    expect((await porter(`resend ${id}`, { env })).stdout).toBe(
      `Queued: ${first} is paused. Activate it: porter webhooks activate ${first}\n`,
    );
    await patch({ status: 'active' });

    const second = (await make({ url: `${receiver.url}/2`, event_types: ['prescription.issued'] })).body.id;
    const several = await porter(`resend ${id}`, { env });
    expect(several.code).toBe(2);
    for (const one of [first, second]) expect(several.stderr).toContain(one);
    expect((await porter(`resend ${id} --webhook ${first} --json`, { env })).json).toEqual({
      webhook_id: first,
      count: 1,
    });
    const unwanted = await porter(`resend ${id} --webhook ${second}`, { env });
    expect(unwanted.stderr).toContain('does not subscribe to it');
    expect(
      await porter('resend evt_none', { env: { ...env, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN } }),
    ).toMatchObject({ code: 2 });
  });
});
