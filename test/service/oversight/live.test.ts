import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { LIVE_STREAMS_OF_OPERATOR_MAX } from '../../../src/contract/live.ts';
import { liveKinds } from '../../../src/contract/operator/oversight/deployment.ts';
import { expectProblem } from '../../support/answers.ts';
import { signIn } from '../../support/console-session.ts';
import { followStream, nextKinds, type StreamReader, untilTold } from '../../support/event-stream.ts';
import { HastyClock } from '../../support/manual-clock.ts';
import { makeKey, makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startHarness({
  env: { PORTER_ROLE: 'api', PORTER_CONNECTIONS_PER_ADDRESS_MAX: '2000' },
  clock: new HastyClock(),
});
const db = await superuser(house.databaseUrl);
const { groupId, partnerId } = await makeWorld(house);

const open = (token = OPERATOR_TOKEN) =>
  followStream(`${house.url}/operator/v1/live`, { authorization: `Bearer ${token}` });
/** A reader that has been told of everything once, so that what it hears next is news. */
async function follow(token?: string): Promise<StreamReader> {
  const stream = await open(token);
  expect(await nextKinds(stream)).toEqual([...liveKinds]);
  return stream;
}

const newReaders = (count: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const { token } = await house.operator('POST', '/operators', { name: 'Reader', role: 'viewer' });
      return token as string;
    }),
  );

/** Every statement that this process sends from here on. */
function countStatements() {
  const counted: string[] = [];
  const client = pg.Client.prototype;
  const query = client.query;
  client.query = function (this: pg.Client, ...given: unknown[]) {
    const [first] = given as [string | { text?: string }];
    counted.push(typeof first === 'string' ? first : (first.text ?? ''));
    return (query as (...all: unknown[]) => unknown).apply(this, given);
  } as typeof query;
  return {
    counted,
    stop: () => {
      client.query = query;
    },
  };
}

describe('GET /operator/v1/live', () => {
  it('200: says first that all may have changed, then what has, and never what it is', async () => {
    const stream = await follow();
    expect(stream.headers['content-type']).toContain('text/event-stream');
    await house.operator('PATCH', `/partners/${partnerId}`, { name: 'Renamed' });
    await untilTold(stream, 'partners');
    await db.query(
      `INSERT INTO alerts (id, kind, subject_type, subject_id, details, began_at) VALUES ('alt_1', 'ehr_down', 'practice_group', 'x', '{}', now())`,
    );
    expect(await nextKinds(stream)).toEqual(['alerts']);
    await db.query("UPDATE alerts SET ended_at = now() WHERE id = 'alt_1'");
    expect(await nextKinds(stream)).toEqual(['alerts']);
    house.service.app.figures.call(partnerId, 'ok');
    await house.service.app.figures.flush();
    expect(await nextKinds(stream)).toEqual(['figures']);
    await db.query("UPDATE nodes SET seen_at = '1970-01-01'");
    expect(await nextKinds(stream)).toEqual(['nodes']);
  });

  it('200: hears of webhooks that begin to fail, and of changes', async () => {
    const { key } = await makeKey(house, groupId);
    const send = (method: string, path: string, body: object) =>
      house.send(method, path, { key, group: groupId, body });
    const { id } = (await send('POST', '/v1/webhooks', { url: 'https://partner.example/hook' })).body;
    const stream = await follow();
    await db.query(
      'UPDATE webhook_lanes SET failures = 1, failing_since = now() WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)',
      [id],
    );
    await untilTold(stream, 'webhooks');
    await send('PATCH', '/v1/care-nav/submission-types/type-1', { title: 'Another' });
    await untilTold(stream, 'changes');
  });

  it('a thousand that are open cost the database what one does', async () => {
    const { counted, stop } = countStatements();
    const looksSoFar = () => counted.filter((text) => text.includes('FROM audit_head')).length;
    try {
      const cost = async () => {
        const from = { looks: looksSoFar(), statements: counted.length };
        await expect.poll(() => looksSoFar() - from.looks).toBeGreaterThanOrEqual(20);
        return (counted.length - from.statements) / (looksSoFar() - from.looks);
      };
      const first = await follow();
      const ofOne = await cost();
      const others = await newReaders(50);
      const readers = await Promise.all(Array.from({ length: 999 }, (_, n) => open(others[n % 50])));
      await Promise.all(readers.map((reader) => nextKinds(reader)));
      expect(house.service.app.live.count).toBe(1_000);
      const ofThousand = await cost();
      expect(ofThousand).toBeLessThanOrEqual(ofOne * 1.2);
      // And each of them hears of it.
      await house.operator('PATCH', `/partners/${partnerId}`, { name: 'Heard by all' });
      await Promise.all([first, ...readers].map((reader) => untilTold(reader, 'partners')));
    } finally {
      stop();
    }
  });

  it('fifty consoles that hear of something and ask for their first page cost the database what one does', async () => {
    const people = await newReaders(5);
    const readers = await Promise.all(Array.from({ length: 50 }, (_, n) => follow(people[n % 5])));
    const { counted, stop } = countStatements();
    try {
      const costOf = async (consoles: number) => {
        // What was answered within the last second may be answered again.
        house.clock.advance(1_000);
        const from = asked();
        const pages = Array.from({ length: consoles }, () =>
          Promise.all(['/attention', '/figures'].map((path) => house.operator('GET', path))),
        );
        const [first] = await Promise.all(pages);
        expect(first?.[1].data.length).toBeGreaterThan(0);
        return asked() - from;
      };
      // The looks of the stream go on meanwhile.
      const asked = () =>
        counted.filter((text) => !/audit_head/.test(text) && /alerts|figures|deliveries|approvals/.test(text))
          .length;
      await costOf(1);
      const ofOne = await costOf(1);
      expect(ofOne).toBeGreaterThan(0);
      expect(await costOf(readers.length)).toBeLessThanOrEqual(ofOne + 2);
    } finally {
      stop();
    }
  });

  it('409: the 21st of an operator, with its token and its sessions together; others have their own', async () => {
    const [token = '', another] = await newReaders(2);
    const browser = await signIn(house, token);
    const inBrowser = () =>
      followStream(`${house.url}/operator/v1/live`, { cookie: browser.cookie, 'x-porter-console': '1' });
    const open20 = Array.from({ length: LIVE_STREAMS_OF_OPERATOR_MAX }, (_, n) =>
      n % 2 === 0 ? open(token) : inBrowser(),
    );
    const [first] = await Promise.all(open20);
    const refused = await browser.send('GET', '/operator/v1/live');
    expectProblem(refused, 409, 'conflict', {
      message: 'You have 20 pages open that receive news, which is the limit. Close a page.',
    });
    expect((await open(token)).status).toBe(409);
    expect((await open(another)).status).toBe(200);
    first?.close();
    await expect.poll(async () => (await open(token)).status).toBe(200);
  });

  it('ends for one whose token was revoked, and for all when the service stops', async () => {
    const { id, token } = await house.operator('POST', '/operators', { name: 'Vera', role: 'viewer' });
    const [gone, stays] = [await follow(token), await follow()];
    await house.operator('POST', `/operators/${id}/revoke`);
    await gone.ended;
    await house.operator('PATCH', `/partners/${partnerId}`, { name: 'Once more' });
    await untilTold(stays, 'partners');
    await house.stop();
    await stays.ended;
    expect(house.service.app.live.count).toBe(0);
  });
});
