import { expect, it } from 'vitest';
import { encodeCursor } from '../../../src/contract/page.ts';
import { expectProblem } from '../../support/answers.ts';
import { openStream } from '../../support/event-stream.ts';
import { copyOf, happen, liveThroughHistories, read, start } from '../../support/feed-histories.ts';
import { newPartner, type Partner, partnerWith } from '../../support/post.ts';
import { createUpToDateDatabase, type Harness } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** What readers of the feed hear when it was set back: by a restore, or by a standby that had not everything. */

/** A house with three events, its backup, and four more events that the backup does not have. */
async function lossy(meanwhile: (house: Harness, partner: Partner) => Promise<void> = async () => {}) {
  const databaseUrl = await createUpToDateDatabase();
  const first = await start(databaseUrl);
  const partner = await newPartner(first);
  const kept = await happen(first, partner.groupId, 3);
  const older = await read(partner);
  await first.stop();
  const backup = await copyOf(databaseUrl);
  const second = await start(databaseUrl);
  const again = partnerWith(second, partner.groupId, partner);
  const lost = await happen(second, partner.groupId, 4);
  const newer = await read(again, older.cursor);
  expect(newer.ids).toEqual(lost);
  await meanwhile(second, again);
  await second.stop();
  return { databaseUrl, backup, partner, kept, older: older.cursor, newer: newer.cursor };
}

it('410: a cursor that is newer than the backup, also when other events have its place by now', async () => {
  const { backup, partner, kept, older, newer } = await lossy();
  const house = await start(backup);
  const reader = partnerWith(house, partner.groupId, partner);
  const gone = await reader.send('GET', `/v1/events?cursor=${newer}`);
  expectProblem(gone, 410, 'cursor_gone', { resume_cursor: expect.any(String) });

  const after = await happen(house, partner.groupId, 6);
  const still = await reader.send('GET', `/v1/events?cursor=${newer}`);
  expectProblem(still, 410, 'cursor_gone', { resume_cursor: gone.body.resume_cursor });
  // Nothing is skipped: neither by who goes on as told, nor by who was behind, nor by who begins anew. The first may see some again,
  // because a node was started between the backup and the loss.
  expect((await read(reader, still.body.resume_cursor)).ids.slice(-after.length)).toEqual(after);
  expect((await read(reader, older)).ids).toEqual(after);
  expect((await read(reader)).ids).toEqual([...kept, ...after]);
  const { cursor } = await read(reader, older);
  expect((await read(reader, cursor)).ids).toEqual([]);
});

it('410: so does the stream, by Last-Event-ID and by cursor', async () => {
  const { backup, partner, newer, older } = await lossy();
  const house = await start(backup);
  const reader = partnerWith(house, partner.groupId, partner);
  const after = await happen(house, partner.groupId, 5);
  const stream = '/v1/events/stream';
  const resume_cursor = expect.any(String);
  const headers = { 'last-event-id': newer };
  const gone = await reader.send('GET', stream, undefined, headers);
  expectProblem(gone, 410, 'cursor_gone', { resume_cursor });
  expectProblem(await reader.send('GET', `${stream}?cursor=${newer}`), 410, 'cursor_gone', { resume_cursor });
  expect(house.service.app.streams.count).toBe(0);
  for (const cursor of [gone.body.resume_cursor, older]) {
    const resumed = await openStream(house, reader, { headers: { 'last-event-id': cursor } });
    const heard: string[] = [];
    while (heard.at(-1) !== after.at(-1)) heard.push((await resumed.event()).data.id);
    expect(heard.slice(-after.length)).toEqual(after);
    resumed.close();
  }
});

it('a stream that is open while the feed is set back ends, and its reader is told when it comes again', async () => {
  const house = await start(await createUpToDateDatabase());
  const partner = await newPartner(house);
  const stream = await openStream(house, partner);
  await happen(house, partner.groupId, 2);
  await stream.event();
  const { cursor } = await stream.event();
  const db = await superuser(house.databaseUrl);
  await db.query('DELETE FROM feed WHERE position > 1; UPDATE feed_head SET position = 1');
  house.clock.advance(15_000);
  await stream.ended;
  expect(house.logLines().filter(({ level }) => level === 'error')).toEqual([]);
  const headers = { 'last-event-id': cursor };
  const again = await partner.send('GET', '/v1/events/stream', undefined, headers);
  expectProblem(again, 410, 'cursor_gone', { resume_cursor: expect.any(String) });
});

it('nodes were restarted between the backup and the restore: the way on is found all the same', async () => {
  let newest = '';
  const { databaseUrl, backup, partner } = await lossy();
  for (let round = 0; round < 2; round++) {
    const house = await start(databaseUrl);
    const reader = partnerWith(house, partner.groupId, partner);
    await happen(house, partner.groupId, 2);
    newest = (await read(reader)).cursor;
    await house.stop();
  }
  const house = await start(backup);
  const reader = partnerWith(house, partner.groupId, partner);
  const after = await happen(house, partner.groupId, 20);
  const { body, status } = await reader.send('GET', `/v1/events?cursor=${newest}`);
  expect(status).toBe(410);
  expect((await read(reader, body.resume_cursor)).ids.slice(-after.length)).toEqual(after);
});

it('cursors from before there were timelines stay good, unless they point past the end', async () => {
  const house = await start(await createUpToDateDatabase());
  const partner = await newPartner(house);
  const ids = await happen(house, partner.groupId, 3);
  expect((await read(partner, encodeCursor([0]))).ids).toEqual(ids);
  expect((await read(partner, encodeCursor([2]))).ids).toEqual(ids.slice(2));
  const gone = await partner.send('GET', `/v1/events?cursor=${encodeCursor([4])}`);
  expectProblem(gone, 410, 'cursor_gone', { resume_cursor: expect.any(String) });
  expect((await read(partner, gone.body.resume_cursor)).ids).toEqual(ids);
});

it('a restart alone takes nobody’s cursor away', async () => {
  const databaseUrl = await createUpToDateDatabase();
  let expected: string[] = [];
  let partner: Partner | undefined;
  const cursors: string[] = [];
  for (let round = 0; round < 4; round++) {
    const house = await start(databaseUrl);
    partner = partner ? partnerWith(house, partner.groupId, partner) : await newPartner(house);
    const later = await happen(house, partner.groupId, round % 2 === 0 ? 2 : 0);
    expected = [...expected, ...later];
    for (const [seen, cursor] of cursors.entries())
      expect((await read(partner, cursor)).ids, `of round ${seen}`).toEqual(
        expected.slice([2, 2, 4][seen] ?? 0),
      );
    cursors.push((await read(partner)).cursor);
    await house.stop();
  }
});

it('tables that are restored under nodes at work begin a timeline with the next event', async () => {
  const house = await start(await createUpToDateDatabase());
  const partner = await newPartner(house);
  await happen(house, partner.groupId, 2);
  const db = await superuser(house.databaseUrl);
  // As pg_restore --clean leaves them: another table with the rows of then.
  await db.query('CREATE TEMP TABLE backup AS SELECT * FROM feed_head');
  await happen(house, partner.groupId, 3);
  const { cursor } = await read(partner);
  await db.query(`BEGIN; TRUNCATE feed_head; INSERT INTO feed_head SELECT * FROM backup;
    DELETE FROM feed WHERE position > (SELECT position FROM feed_head); COMMIT`);
  const after = await happen(house, partner.groupId, 8);
  const gone = await partner.send('GET', `/v1/events?cursor=${cursor}`);
  expectProblem(gone, 410, 'cursor_gone', { resume_cursor: expect.any(String) });
  expect((await read(partner, gone.body.resume_cursor)).ids).toEqual(after);
});

it('in random histories no reader misses an event: it gets all that follow, or 410 and a place to get them from', async () => {
  await liveThroughHistories(6, 23);
});
