import { expect, it } from 'vitest';
import { porter as run } from '../../support/cli.ts';
import { fanOutAll, HOOK, newPartner, publish, startPost } from '../../support/post.ts';
import { OPERATOR_TOKEN } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

const house = await startPost();
const CONFIRMED = 'appointment.confirmed';

it('porter webhooks lists, shows, pauses, activates and replays', async () => {
  const own = await newPartner(house);
  const { id } = await own.call('POST', '/v1/webhooks', { url: HOOK });
  await publish(house, own.groupId, CONFIRMED);
  await fanOutAll(house);
  const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
  const porter = (line: string) => run(line, { env });
  const json = async (line: string) => (await porter(`${line} --json`)).json;
  expect((await porter(`webhooks list --partner ${own.partnerId}`)).stdout).toMatch(
    new RegExp(
      `${id} +active +Partner \\(${own.partnerId}\\) +.*${own.groupId}\\)? +${HOOK} +1 +0 +- +2026-`,
    ),
  );
  expect(await json(`webhooks pause ${id}`)).toMatchObject({ id, status: 'paused' });
  expect(await json(`webhooks show ${id}`)).toMatchObject({ id, status: 'paused' });
  expect(await json(`webhooks activate ${id}`)).toMatchObject({ id, status: 'active' });
  expect(await json(`webhooks replay ${id} --since 2026-01-01T00:00:00Z`)).toEqual({
    webhook_id: id,
    count: 1,
  });
  expect((await porter(`webhooks replay ${id}`)).code).toBe(2);
  const replay = async () => (await porter(`webhooks replay ${id} --since 2026-01-01T00:00:00Z`)).stdout;
  expect(await replay()).toBe(`1 on the way to ${id}.\n`);
  await porter(`webhooks pause ${id}`);
  expect(await replay()).toBe(
    `Queued: 1 for ${id}, which is paused. They wait until it is active: porter webhooks activate ${id}\n`,
  );
});

it('porter deliveries retry says to activate the webhook where that is what keeps it, and nowhere else', async () => {
  const own = await newPartner(house);
  const { id } = await own.call('POST', '/v1/webhooks', { url: HOOK });
  await publish(house, own.groupId, [CONFIRMED, 'to-be-erased']);
  await fanOutAll(house);
  const [{ id: delivery }] = (await own.call('GET', `/v1/webhooks/${id}/deliveries`)).data;
  const db = await superuser(house.databaseUrl);
  const refusal = async () => {
    const env = { PORTER_URL: house.url, PORTER_OPERATOR_TOKEN: OPERATOR_TOKEN };
    const { code, stderr } = await run(`deliveries retry ${delivery}`, { env });
    expect(code).toBe(1);
    return stderr.split('\n').filter((line) => !/^ {2}(More|Request): /.test(line));
  };
  await db.query("UPDATE webhooks SET status = 'disabled' WHERE id = $1", [id]);
  expect(await refusal()).toEqual([
    expect.stringContaining(`The webhook ${id} is disabled`),
    '  Activate its webhook first: porter webhooks activate <webhook_id>',
    '',
  ]);
  await db.query("UPDATE webhooks SET status = 'active' WHERE id = $1", [id]);
  await house.operator('POST', '/erasures', {
    practice_group_id: own.groupId,
    object: 'Appointment',
    object_id: 'to-be-erased',
  });
  expect(await refusal()).toEqual(['Error: The object of this event was erased: it is sent to nobody.', '']);
});
