import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { porter, type Surroundings, words } from '../support/cli.ts';

/** A service that tries to steer the terminal with each string that it answers. */

const HOSTILE = 'x\x1b]0;x\x07\x1b[31m\u009b2J\nForged\u202e';
const LEAF = {
  ...Object.fromEntries(
    'id name status request_id at method path error contact_email url event object_id prefix last_four key partner_id expires_at event_id practice_group_id entries count sla'
      .split(' ')
      .map((name) => [name, HOSTILE]),
  ),
  [HOSTILE]: HOSTILE,
  practice_group_ids: [HOSTILE, HOSTILE],
  partner: { id: HOSTILE, name: HOSTILE },
  practice_groups: [{ id: HOSTILE, name: HOSTILE, through: { id: HOSTILE, name: HOSTILE } }],
  scopes: [HOSTILE],
  operator: { id: HOSTILE, name: HOSTILE, role: HOSTILE },
  environment: HOSTILE,
  version: HOSTILE,
  actor: { id: HOSTILE, name: HOSTILE },
  subject: { type: HOSTILE, id: HOSTILE },
  after: { [HOSTILE]: HOSTILE },
  payload: { event: HOSTILE, id: HOSTILE, practice_group_id: HOSTILE },
  deliveries: [{ id: HOSTILE, webhook_id: HOSTILE, status: HOSTILE }],
  event_ids: [HOSTILE],
  attempts: [{ diagnosis: HOSTILE }],
  answer: { message: [{ path: [HOSTILE], message: HOSTILE }] },
  health: { failures: HOSTILE, failing_since: HOSTILE, queued: HOSTILE },
  ok: true,
  next_cursor: null,
};
const ANSWER = { ...LEAF, health: { ...LEAF.health, failures: 2 } };
const REFUSAL = {
  error: 'conflict',
  message: HOSTILE,
  path: [HOSTILE],
  doc_url: HOSTILE,
  request_id: HOSTILE,
  required_scopes: [HOSTILE],
  retry_after: HOSTILE,
};
const INVALID = { error: true, message: [{ path: [HOSTILE], message: HOSTILE }] };

const answering =
  (status: number, body: object): typeof fetch =>
  async (url) =>
    String(url).endsWith('/healthz')
      ? Response.json({ status: 'ok' })
      : Response.json(body, { status, headers: { 'x-request-id': 'x' } });

const env = { PORTER_KEY: 'ptr_x', PORTER_GROUP: 'g', PORTER_OPERATOR_TOKEN: 'pto_x' };

function expectTame(text: string): void {
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
  expect(text).not.toMatch(/^Forged/m);
}

const calling = commands.filter(({ name, calls }) => calls !== 'nobody' && name !== 'listen');

describe.each(calling)('$name', ({ examples: [line] }) => {
  it.each([
    ['an answer', 200, { ...ANSWER, data: [ANSWER, ANSWER] }],
    ['a refusal', 409, REFUSAL],
    ['a list of mistakes', 400, INVALID],
    ['something that is not of Porter', 502, { [HOSTILE]: HOSTILE }],
  ])('is not steered by %s', async (_what, status, body) => {
    const surroundings: Surroundings = { env, fetch: answering(status, body) };
    for (const argv of [words(line), [...words(line), '--json']]) {
      const { code, stdout, stderr } = await porter(argv, surroundings);
      expectTame(stdout + stderr);
      expect(stdout + stderr).not.toContain('porter has failed');
      if (status !== 200) expect(code).toBe(1);
    }
  });
});

it('listen is not steered by an event, a cursor or a refusal', async () => {
  const event = {
    id: HOSTILE,
    created_at: HOSTILE,
    data: { object: HOSTILE, id: HOSTILE, practice_group_id: HOSTILE, event: HOSTILE },
  };
  const clock = { now: () => 0, monotonic: () => 0, sleep: () => new Promise<void>(setImmediate) };
  for (const line of ['listen', 'listen --json']) {
    let calls = 0;
    const fetch: typeof globalThis.fetch = async () =>
      ++calls === 1
        ? new Response(`id: 1\ndata: ${JSON.stringify(event)}\n\n`, {
            headers: { 'content-type': 'text/event-stream' },
          })
        : Response.json(REFUSAL, { status: 403 });
    const { code, stdout, stderr } = await porter(line, { env, fetch, clock });
    expectTame(stdout + stderr);
    expect(stdout).toContain('Forged');
    expect(code).toBe(1);
  }
});

it('a terminal with colours is not steered either', async () => {
  const { stdout } = await porter('partners show prt_1', {
    env,
    terminal: true,
    fetch: answering(200, LEAF),
  });
  expect(stdout).toContain('\x1b[2mid');
  expectTame(stdout.replaceAll('\x1b[2m', '').replaceAll('\x1b[22m', ''));
});
