import { describe, expect, it } from 'vitest';
import { startReceiver } from '../../support/receiver.ts';
import { makeWorld, OPERATOR_TOKEN, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** A caller sends the secret of another service by mistake. The service keeps its text nowhere, whatever its prefix. */
const collector = await startReceiver();
const house = await startHarness({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
const { key, groupId: group } = await makeWorld(house);
const db = await superuser(house.databaseUrl);

const SECRETS = [
  'sk_live_4eC39HqLyjWDarjtT1zdp7dc',
  'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
  'AKIAIOSFODNN7EXAMPLE',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P',
  'c2VjcmV0OnNlY3JldA+/=',
  '7f3d9a60c1b24e8f',
];

/** Every way in that an unauthenticated caller has. */
async function sendEverywhere(secret: string): Promise<void> {
  const sent = encodeURIComponent(secret);
  const escaped = [...secret].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
  const headers: Record<string, string>[] = [
    { 'x-api-key': secret },
    { 'x-api-key': secret, 'x-request-id': secret },
    { authorization: `Bearer ${secret}` },
    { authorization: `Bearer ${secret}`, 'x-request-id': secret },
    { authorization: secret },
    { authorization: `Basic ${secret}` },
    { cookie: `porter-session=${secret}` },
    { 'x-porter-key': secret },
    { 'x-practice-group-id': secret },
    { 'x-client-assertion': secret },
    { 'user-agent': secret, traceparent: secret, 'if-match': secret, 'idempotency-key': secret },
  ];
  const paths = [
    '/v1/practice-groups',
    `/v1/practice-groups?x-api-key=${sent}`,
    `/v1/care-nav/submission-types/${sent}`,
    `/v1/${sent}/nothing`,
    `/operator/v1/partners/${sent}?token=${sent}`,
    `/portal/v1/keys/${sent}`,
    `/console/${sent}`,
    `/docs/${sent}`,
    `/${sent}`,
    `/nowhere/${escaped}`,
    `/nowhere/%${sent}`,
  ];
  for (const one of headers) for (const path of paths) await house.send('GET', path, { headers: one });
  for (const path of ['/console/sign-in', '/console/enter'])
    for (const body of [{ token: secret }, { [secret]: 1 }, { token: [secret] }])
      await house.send('POST', path, { body });
  await house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
    key: secret,
    group: secret,
    body: { [secret]: 1 },
  });
  await house.send('PATCH', '/v1/care-nav/submission-types/type-1', { key: secret, raw: `{"${secret}"` });
}

const everyRow = async () => {
  const { rows: tables } = await db.query(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await db.query(`SELECT t::text AS row FROM "${name}" t`);
    found.push(...rows.map(({ row }) => row));
  }
  return found;
};

describe('the secret of another service', () => {
  it('is in no log line, trace, metric, row or list, wherever an unauthenticated caller put it', async () => {
    for (const secret of SECRETS) {
      // Over the limit of the address, refused requests get no log line of their own.
      house.clock.advance(60_000);
      await sendEverywhere(secret);
    }
    // A caller with a valid key is logged with its whole path: this is how the test knows that the log is complete.
    await house.send('GET', '/v1/care-nav/submission-types/the-last-one-7', { key, group });
    await expect.poll(() => JSON.stringify(house.logLines())).toContain('/the-last-one-7');
    await expect
      .poll(() => collector.received.map(({ body }) => body).join(''), { timeout: 60_000 })
      .toContain('/the-last-one-7');
    const { text: metrics } = await house.send('GET', '/metrics');
    const lists = await Promise.all(
      ['/requests', '/audit', '/access-log', '/sessions', '/attention'].map(async (path) =>
        JSON.stringify(await house.operator('GET', path)),
      ),
    );
    const kept = [
      JSON.stringify(house.logLines()),
      ...collector.received.map(({ body }) => body),
      metrics,
      ...(await everyRow()),
      ...lists,
    ].join('\n');
    for (const secret of SECRETS) {
      expect(kept).not.toContain(secret);
      expect(kept).not.toContain(encodeURIComponent(secret));
      expect(kept).not.toContain([...secret].map((one) => `%${one.charCodeAt(0).toString(16)}`).join(''));
    }
    expect(kept).toContain('/v1/care-nav/submission-types/[redacted]');
    for (const secret of SECRETS) {
      const found = await house.send('GET', `/operator/v1/search?q=${encodeURIComponent(secret)}`, {
        token: OPERATOR_TOKEN,
      });
      expect(found.text).not.toContain(secret);
    }
  });
});
