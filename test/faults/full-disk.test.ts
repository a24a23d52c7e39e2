import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../src/platform/postgres/embedded.ts';
import { afterwards, temporaryFolder } from '../support/afterwards.ts';
import { newPartner, publish } from '../support/post.ts';
import { type Harness, OPERATOR_TOKEN, startHarness } from '../support/service.ts';

/** A PostgreSQL on a disk of its own, of 256 MB. Only root can make one. */

async function onOwnDisk(): Promise<{ url: string; disk: string }> {
  const disk = temporaryFolder();
  execFileSync('/usr/bin/mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'porter-full-disk', disk]);
  afterwards(() => execFileSync('/usr/bin/umount', [disk]));
  const dataDir = join(disk, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const postgres = await startEmbeddedPostgres({
    dataDir,
    log: () => {},
    // The log of writes keeps what it has and needs no new file during the test: a server that cannot make one ends itself.
    settings: { max_wal_size: '48MB', min_wal_size: '48MB', wal_init_zero: 'on' },
  });
  afterwards(() => postgres.stop());
  return { url: postgres.url, disk };
}

/** Takes all that is left. */
function fill(disk: string): string {
  const file = join(disk, 'filler');
  const handle = openSync(file, 'w');
  for (let size = 1 << 20; size >= 512; )
    try {
      if (writeSync(handle, Buffer.alloc(size)) < size) size >>= 1;
    } catch {
      size >>= 1;
    }
  closeSync(handle);
  return file;
}

const readyz = async (house: Harness) => {
  house.clock.advance(5_000);
  return (await house.send('GET', '/readyz')).status;
};

it('on a full disk the service is not ready, publishing is an outage, and both pass when there is room again', async () => {
  const { url, disk } = await onOwnDisk();
  const house = await startHarness({ databaseUrl: url, env: { PORTER_ROLE: 'api' } });
  const { groupId } = await newPartner(house);
  await publish(house, groupId, 'prescription.issued');
  expect(await readyz(house)).toBe(200);

  const filler = fill(disk);
  expect(await readyz(house)).toBe(503);
  // What is left of pages takes some events still; then they are refused, as what may pass.
  const statuses = new Set<number>();
  const body = {
    events: Array.from({ length: 500 }, (_, n) => ({
      object: 'Prescription',
      id: `${n}-${'x'.repeat(100)}`,
      practice_group_id: groupId,
      event: 'prescription.issued',
    })),
  };
  while (!statuses.has(503) && statuses.size < 3)
    statuses.add((await house.send('POST', '/operator/v1/events', { token: OPERATOR_TOKEN, body })).status);
  expect([...statuses].filter((status) => status !== 202)).toEqual([503]);

  rmSync(filler);
  await expect.poll(() => readyz(house)).toBe(200);
  await publish(house, groupId, 'prescription.issued');
});
