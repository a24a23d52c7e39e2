import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import { asAdmin } from './logins.ts';
import { fanOutAll, newPartner, type Partner, partnerWith, publish } from './post.ts';
import { createUpToDateDatabase, type Harness, type Loose, startHarness } from './service.ts';

/** A service whose database is backed up and restored, and readers of its feed. */

const nameOf = (databaseUrl: string) => new URL(databaseUrl).pathname.slice(1);

/** A copy of a database that nobody is connected to. */
export async function copyOf(databaseUrl: string): Promise<string> {
  const copy = new URL(databaseUrl);
  copy.pathname = `copy_${randomBytes(8).toString('hex')}`;
  await asAdmin(`CREATE DATABASE ${nameOf(copy.href)} TEMPLATE ${nameOf(databaseUrl)}`);
  return copy.href;
}

/** No worker: events have their places when the test says so. */
export const start = (databaseUrl: string) => startHarness({ databaseUrl, env: { PORTER_ROLE: 'api' } });

export async function happen(house: Harness, groupId: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) {
    ids.push(...(await publish(house, groupId, 'prescription.issued')));
    await fanOutAll(house);
  }
  return ids;
}

export async function read(partner: Partner, cursor?: string): Promise<{ ids: string[]; cursor: string }> {
  const page = await partner.call('GET', `/v1/events?page_size=100${cursor ? `&cursor=${cursor}` : ''}`);
  return { ids: page.data.map(({ id }: Loose) => id), cursor: page.next_cursor };
}

/** What a life of the service may hold: events, a restart, a backup, and a restore of the last one. */
const LIFE = fc.array(fc.constantFrom('events', 'events', 'restart', 'backup', 'restore'), {
  minLength: 4,
  maxLength: 10,
});

/** No reader misses an event: it gets all that follow, or 410 and a place to get them from. */
export async function liveThroughHistories(numRuns: number, seed: number): Promise<void> {
  const model = fc.asyncProperty(LIFE, async (life) => {
    let databaseUrl = await createUpToDateDatabase();
    let house = await start(databaseUrl);
    const made = await newPartner(house);
    let reader: Partner = made;
    let present: string[] = [];
    let backup: { url: string; history: string[] } | undefined;
    const kept: { cursor: string; seen: string[] }[] = [];
    const begin = async () => {
      house = await start(databaseUrl);
      reader = partnerWith(house, made.groupId, made);
    };
    const check = async () => {
      for (const { cursor, seen } of kept) {
        const answer = await reader.send('GET', `/v1/events?page_size=100&cursor=${cursor}`);
        const isPast = seen.every((id, place) => present[place] === id);
        expect(answer.status, answer.text).toBe(isPast ? 200 : 410);
        const ids = isPast
          ? answer.body.data.map(({ id }: Loose) => id)
          : (await read(reader, answer.body.resume_cursor)).ids;
        const known = seen.findIndex((id, place) => present[place] !== id);
        expect(ids).toEqual(present.slice(present.length - ids.length));
        const wanted = present.length - (isPast ? seen.length : known);
        expect(ids.length)[isPast ? 'toBe' : 'toBeGreaterThanOrEqual'](wanted);
      }
    };
    for (const step of life) {
      if (step === 'events') present = [...present, ...(await happen(house, made.groupId, 2))];
      else {
        await house.stop();
        if (step === 'backup') backup = { url: await copyOf(databaseUrl), history: present };
        if (step === 'restore' && backup) {
          databaseUrl = await copyOf(backup.url);
          present = backup.history;
        }
        await begin();
      }
      await check();
      kept.push({ cursor: (await read(reader)).cursor, seen: present });
    }
    await house.stop();
  });
  await fc.assert(model, { numRuns, seed });
}
