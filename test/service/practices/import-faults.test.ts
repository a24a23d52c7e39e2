import { Readable } from 'node:stream';
import { request } from 'undici';
import { expect, it } from 'vitest';
import { dice } from '../../support/fault-loops.ts';
import { heapWhileStreaming, killDuringImport, resumeByCommand } from '../../support/import-loops.ts';
import { practiceItems } from '../../support/practice-items.ts';
import { RawConnection } from '../../support/raw-http.ts';
import { seedOf } from '../../support/seed.ts';
import { OPERATOR_TOKEN, startHarness } from '../../support/service.ts';

/** Short rounds; test/faults has the long ones. */

it('takes no more memory for 20,000 items than for 4,000', async () => {
  const { imported, compared } = await heapWhileStreaming([4_000, 20_000]);
  for (const [few = 0, many = 0] of [imported, compared]) expect((many - few) / 2 ** 20).toBeLessThan(8);
});

it('is cut off by a kill of the service, tells of an outage of PostgreSQL, and ends well when the same lines are sent again', async () => {
  const roll = dice(seedOf('import', 7));
  const random = () => roll(1_000_000) / 1_000_000;
  const { items } = await killDuringImport({ practices: 250, kills: 2, random });
  expect(items).toBe(5_000);
});

it('porter import goes on where a kill of the service broke it off', () => resumeByCommand(125));

it('goes on for longer than the time that any other request has', async () => {
  const house = await startHarness();
  house.service.server.requestTimeout = 100;
  house.service.server.headersTimeout = 100;
  const lines = practiceItems().map((item) => `${JSON.stringify(item)}\n`);
  let goOn = () => {};
  const isOver = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const answer = request(`${house.url}/operator/v1/import`, {
    method: 'POST',
    headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, 'content-type': 'application/x-ndjson' },
    body: Readable.from(
      (async function* () {
        yield* lines.slice(0, 2);
        await isOver;
        yield* lines.slice(2);
      })(),
    ),
  });
  // One that came later, and as slowly, has had its time: so the time of the import is over, too.
  const slow = await new RawConnection(house.url).exchange(
    `POST /operator/v1/import HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${OPERATOR_TOKEN}\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{`,
  );
  expect(slow.status).toBe(408);
  goOn();
  const { statusCode, body } = await answer;
  expect([statusCode, (await body.text()).match(/"created"/g)]).toEqual([200, lines.map(() => '"created"')]);
});
