import { expect, it } from 'vitest';
import { afterwards } from '../../support/afterwards.ts';
import { until } from '../../support/porter-process.ts';
import { startReceiver } from '../../support/receiver.ts';
import { makeKey, makeWorld, serviceForTests } from '../../support/service.ts';

/** Partners whose changes wait for the same practice software. */

const { house } = await serviceForTests();

/** Its software answers nothing before it is told to. */
async function practice() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const software = await startReceiver({
    behaviour: async (response) => {
      await opened;
      response.writeHead(200).end();
    },
  });
  afterwards(() => software.close());
  const world = await makeWorld(house);
  await house.operator('PUT', `/practice-groups/${world.groupId}/write-through`, { url: software.url });
  const statuses: number[] = [];
  const many = async (key: string, count: number, name: string) => {
    const changes = Array.from({ length: count }, async (_, n) => {
      const { status } = await house.send('PATCH', '/v1/care-nav/submission-types/type-1', {
        key,
        group: world.groupId,
        body: { title: `${name} ${n}` },
        headers: { 'x-request-id': `${name}-${n}` },
      });
      statuses.push(status);
    });
    await Promise.all(changes);
  };
  const refused = (count: number) =>
    until(
      () => `${count} refused: ${statuses}`,
      () => statuses.length === count,
    );
  const asked = () =>
    software.received.map(({ body }) => (JSON.parse(body).after.title as string).split(' ')[0]);
  return { world, open, many, refused, asked, statuses };
}

it('whoever sends many, each under a request ID of its own, has eight waiting, and others have their turns between them', async () => {
  const { world, open, many, refused, asked, statuses } = await practice();
  const other = await makeKey(house, world.groupId);
  const first = many(world.key, 45, 'many');
  await refused(37);
  const second = many(other.key, 9, 'other');
  await refused(38);
  open();
  await Promise.all([first, second]);
  expect(statuses).toEqual([...Array(38).fill(503), ...Array(16).fill(200)]);
  // The one that was under way, the one whose turn it was, and then in turns.
  expect(asked().slice(0, 8)).toEqual(['many', 'many', 'other', 'many', 'other', 'many', 'other', 'many']);
});

it('with many partners there is room for one change of each, whatever waits', async () => {
  const { world, open, many, refused, statuses } = await practice();
  const keys = await Promise.all(Array.from({ length: 4 }, () => makeKey(house, world.groupId)));
  const sent = keys.map(({ key }, n) => many(key, 9, `partner${n}`));
  await refused(4);
  sent.push(many(world.key, 2, 'last'));
  await refused(5);
  open();
  await Promise.all(sent);
  expect(statuses).toEqual([...Array(5).fill(503), ...Array(33).fill(200)]);
});
