import { expect, it } from 'vitest';
import { testReceiver } from '../../support/egress.ts';
import { freePort } from '../../support/porter-process.ts';
import { newPartner } from '../../support/post.ts';
import { status } from '../../support/receiver.ts';
import { type Harness, type Loose, startHarness } from '../../support/service.ts';

/** A staging service may call its own machine, and shows its partners what answers there. A service that may not does not. */

const house = await startHarness();
const partner = await newPartner(house);
/** The same database, once the operator has closed the machine to webhooks. */
const closed = await startHarness({
  databaseUrl: house.databaseUrl,
  env: { PORTER_ROLE: 'api', PORTER_WEBHOOK_TARGETS: 'public' },
});

/** Registers a webhook, sends it a test event, and returns what each service shows of the one attempt. */
async function tried(url: string): Promise<{ shown: Loose; hidden: Loose; operators: Loose }> {
  const { id } = await partner.call('POST', '/v1/webhooks', { url });
  const { delivery_id } = await partner.call('POST', `/v1/webhooks/${id}/test`, {
    event: 'appointment.confirmed',
  });
  const list = `/v1/webhooks/${id}/deliveries`;
  const path = `${list}/${delivery_id}`;
  await expect.poll(async () => (await partner.call('GET', path)).attempts).toHaveLength(1);
  const { key, groupId: group } = partner;
  const attemptAt = async (service: Harness) => {
    const one = await service.send('GET', path, { key, group });
    expect((await service.send('GET', list, { key, group })).body.data).toEqual([one.body]);
    return one.body.attempts[0];
  };
  const [shown, hidden] = [await attemptAt(house), await attemptAt(closed)];
  const operators = await house.operator('GET', `/deliveries/${delivery_id}`);
  await partner.call('DELETE', `/v1/webhooks/${id}`);
  return { shown, hidden, operators: operators.attempts[0] };
}

const nothing = { status: null, phase: null, code: null, duration_ms: 0, answer: null };

it('what a receiver on this machine answers is shown while the service may call it', async () => {
  const receiver = await testReceiver();
  const answer = 'no_matching_signature: No signature fits.';
  await receiver.setBehaviour(status(401, {}, answer));
  const { shown, hidden, operators } = await tried(receiver.url);
  expect(shown).toMatchObject({ outcome: 'failed', status: 401, answer });
  expect(shown.diagnosis).toMatch(/^Answered 401: .*Check the secret/);
  expect(shown).toEqual(operators);
  expect(hidden).toEqual({
    ...nothing,
    at: shown.at,
    outcome: 'failed',
    diagnosis: expect.stringMatching(/^Not received\. .* not shown/),
  });
});

it('where the machine is closed, it is shown that the event was received, and nothing else', async () => {
  const receiver = await testReceiver();
  for (const body of ['', 'secret']) {
    await receiver.setBehaviour(status(202, {}, body));
    const { shown, hidden } = await tried(receiver.url);
    expect(shown).toMatchObject({ outcome: 'delivered', status: 202, answer: body || null });
    expect(hidden).toEqual({ ...nothing, at: shown.at, outcome: 'delivered', diagnosis: 'Received.' });
  }
});

it('where the machine is closed, a port without a server looks like a server that fails', async () => {
  const receiver = await testReceiver();
  await receiver.setBehaviour(status(404));
  const open = await tried(receiver.url);
  const refused = await tried(`http://localhost:${await freePort()}/`);
  expect({ ...refused.hidden, at: '' }).toEqual({ ...open.hidden, at: '' });
  expect(refused.shown).toMatchObject({ phase: 'connect', code: 'connection_refused' });
});
