import { expect, it } from 'vitest';
import { asAdmin } from '../../support/logins.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { newPartner, publish } from '../../support/post.ts';
import { startReceiver, status } from '../../support/receiver.ts';
import { createUpToDateDatabase, startHarness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** A database as it was when nobody was connected to it, under another name. */
async function copyOf(databaseUrl: string): Promise<string> {
  const copy = new URL(databaseUrl);
  const name = copy.pathname.slice(1);
  copy.pathname = `${name}_copy`;
  await asAdmin(`CREATE DATABASE ${name}_copy TEMPLATE ${name}`);
  return copy.href;
}

it('after a restore no event goes out under the name of one that receivers have', async () => {
  const databaseUrl = await createUpToDateDatabase();
  const clock = new ManualClock();
  const receiver = await startReceiver({ behaviour: status(204) });
  const before = await startHarness({ databaseUrl, clock, env: { PORTER_ROLE: 'api' } });
  const partner = await newPartner(before);
  await partner.call('POST', '/v1/webhooks', { url: receiver.url });
  await before.stop();
  const backup = await copyOf(databaseUrl);

  for (const [from, url] of [databaseUrl, backup].entries()) {
    clock.advance(1_000);
    const house = await startHarness({ databaseUrl: url, clock });
    await publish(house, partner.groupId, 'prescription.issued');
    await expect.poll(() => receiver.received.length).toBe(from + 1);
    await house.stop();
  }
  const [lost, after] = receiver.received.map(({ headers }) => headers);
  expect(after?.['webhook-sequence']).toBe(lost?.['webhook-sequence']);
  expect(after?.['webhook-id']).not.toBe(lost?.['webhook-id']);
});

it('a database that was restored without what its role may do is given that at the start', async () => {
  const databaseUrl = await createUpToDateDatabase();
  await (await startHarness({ databaseUrl })).stop();
  const db = await superuser(databaseUrl);
  await db.query('REVOKE ALL ON ALL TABLES IN SCHEMA public FROM porter_app');
  await db.query('REVOKE ALL ON SCHEMA public FROM porter_app');
  const house = await startHarness({ databaseUrl });
  await newPartner(house);
  expect(await house.operator('GET', '/audit/verify')).toMatchObject({ ok: true });
});
