import { describe, expect, it } from 'vitest';
import { secretBytes } from '../../../src/domain/events/signature.ts';
import { expectProblem } from '../../support/answers.ts';
import { HOOK, newPartner, startPost } from '../../support/post.ts';
import { superuser } from '../../support/superuser.ts';

const DAY_MS = 24 * 3_600_000;
const house = await startPost();
const own = await newPartner(house);
const db = await superuser(house.databaseUrl);

const create = () => own.call('POST', '/v1/webhooks', { url: HOOK });
const rotate = (id: string) => own.send('POST', `/v1/webhooks/${id}/rotate-secret`);

/** What signs at this moment, oldest first. */
async function signing(id: string): Promise<Buffer[]> {
  const { rows } = await db.query<{ sealed: Buffer; key_id: string }>(
    `SELECT sealed, key_id FROM webhook_secrets
      WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1) AND (expires_at IS NULL OR expires_at > $2)
      ORDER BY no`,
    [id, new Date(house.clock.now()).toISOString()],
  );
  return rows.map(({ sealed, key_id }) =>
    house.service.app.sealer.open({ sealed, keyId: key_id }, `webhook_secrets ${id}`),
  );
}

const bytes = (...secrets: string[]) => secrets.map((secret) => Buffer.from(secretBytes(secret)));

describe('the secret of a webhook', () => {
  it('lies in the database only sealed', async () => {
    const { id, secret } = await create();
    expect(await signing(id)).toEqual(bytes(secret));
    const { rows } = await db.query<{ sealed: Buffer }>('SELECT sealed FROM webhook_secrets');
    for (const { sealed } of rows) expect(sealed.includes(Buffer.from(secretBytes(secret)))).toBe(false);
  });

  it('200: a rotation signs with the new one at once, and with the old one for 24 hours more', async () => {
    const { id, secret } = await create();
    const until = house.clock.now() + DAY_MS;
    const answer = await rotate(id);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      id,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      previous_secret_expires_at: new Date(until).toISOString(),
    });
    expect(answer.body.secret).not.toBe(secret);
    expect(await signing(id)).toEqual(bytes(secret, answer.body.secret));
    house.clock.advance(until - house.clock.now() - 1);
    expect(await signing(id)).toHaveLength(2);
    house.clock.advance(1);
    expect(await signing(id)).toEqual(bytes(answer.body.secret));
  });

  it('a rotation is a change of the webhook: workers that know the old version look again', async () => {
    const { id } = await create();
    expect((await own.send('GET', `/v1/webhooks/${id}`)).headers.etag).toBe('"1"');
    await rotate(id);
    expect((await own.send('GET', `/v1/webhooks/${id}`)).headers.etag).toBe('"2"');
  });

  it('409: at most five sign at a time; each keeps the day that it was given', async () => {
    const { id, secret } = await create();
    const secrets = [secret];
    for (let n = 0; n < 4; n++) {
      secrets.push((await rotate(id)).body.secret);
      house.clock.advance(3_600_000);
    }
    expect(await signing(id)).toEqual(bytes(...secrets));
    expectProblem(await rotate(id), 409, 'conflict');
    expect(await signing(id)).toEqual(bytes(...secrets));
    // The first one was rotated out four hours ago.
    house.clock.advance(20 * 3_600_000);
    expect(await signing(id)).toEqual(bytes(...secrets.slice(1)));
    const again = await rotate(id);
    expect(again.status).toBe(200);
    expect(await signing(id)).toEqual(bytes(...secrets.slice(1), again.body.secret));
    const { rows } = await db.query(
      'SELECT FROM webhook_secrets WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1)',
      [id],
    );
    expect(rows).toHaveLength(5);
  });

  it('of two rotations at once both count, one after the other', async () => {
    const { id } = await create();
    const answers = await Promise.all([rotate(id), rotate(id)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await signing(id)).toHaveLength(3);
    const { rows } = await db.query(
      `SELECT FROM webhook_secrets
        WHERE webhook_no = (SELECT no FROM webhooks WHERE id = $1) AND expires_at IS NULL`,
      [id],
    );
    expect(rows).toHaveLength(1);
  });
});
