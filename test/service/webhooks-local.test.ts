import { expect, it } from 'vitest';
import { testReceiver } from '../support/egress.ts';
import { freePort } from '../support/porter-process.ts';
import { newPartner } from '../support/post.ts';
import { status } from '../support/receiver.ts';
import { type Loose, startHarness } from '../support/service.ts';

/** Staging may call its own machine. What runs there is not for partners to find out. */

const house = await startHarness();
const partner = await newPartner(house);

/** Registers a webhook, sends it a test event, and returns its delivery once it was tried. */
async function tried(url: string): Promise<{ shown: Loose; operators: Loose; text: string }> {
  const { id } = await partner.call('POST', '/v1/webhooks', { url });
  const { delivery_id } = await partner.call('POST', `/v1/webhooks/${id}/test`, {
    event: 'appointment.confirmed',
  });
  const path = `/v1/webhooks/${id}/deliveries`;
  await expect
    .poll(async () => (await partner.call('GET', `${path}/${delivery_id}`)).attempts)
    .toHaveLength(1);
  const one = await partner.send('GET', `${path}/${delivery_id}`);
  const list = await partner.send('GET', path);
  expect(list.body.data).toEqual([one.body]);
  const operators = await house.operator('GET', `/deliveries/${delivery_id}`);
  await partner.call('DELETE', `/v1/webhooks/${id}`);
  return { shown: one.body.attempts[0], operators: operators.attempts[0], text: one.text + list.text };
}

it('an answer from an address that production would refuse is shown to operators, not to the partner', async () => {
  const receiver = await testReceiver();
  await receiver.setBehaviour(status(500, {}, 'root:x:0:0'));
  const { shown, operators, text } = await tried(receiver.url);
  expect(shown).toEqual({
    at: operators.at,
    outcome: 'failed',
    status: null,
    phase: null,
    code: null,
    diagnosis: expect.stringMatching(/^Not received\. .* not shown/),
    duration_ms: 0,
    answer: null,
  });
  expect(text).not.toMatch(/500|root|127\.0\.0\.1/);
  expect(operators).toMatchObject({
    outcome: 'failed',
    status: 500,
    answer: 'root:x:0:0',
    diagnosis: expect.stringMatching(/^Answered 500/),
    duration_ms: expect.any(Number),
  });
});

it('that it received the event is shown, and nothing else', async () => {
  const receiver = await testReceiver();
  for (const body of ['', 'secret']) {
    await receiver.setBehaviour(status(202, {}, body));
    const { shown, operators } = await tried(receiver.url);
    expect(shown).toMatchObject({ outcome: 'delivered', status: null, diagnosis: 'Received.', answer: null });
    expect(operators).toMatchObject({ outcome: 'delivered', status: 202, answer: body || null });
  }
});

it('a port that is closed looks as one where somebody fails', async () => {
  const receiver = await testReceiver();
  await receiver.setBehaviour(status(404));
  const open = await tried(receiver.url);
  const closed = await tried(`http://localhost:${await freePort()}/`);
  expect({ ...closed.shown, at: '' }).toEqual({ ...open.shown, at: '' });
  expect(closed.operators).toMatchObject({ phase: 'connect', code: 'connection_refused' });
});
