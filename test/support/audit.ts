import type { Harness, Loose } from './service.ts';

/**
 * What people did, newest first, as far as a page goes. Entries are counted by these and not by the length of the trail: whatever is done
 * meanwhile, the service leaves entries of its own, such as the anchors of the access log.
 */
async function entriesOfPeople({ operator }: Pick<Harness, 'operator'>): Promise<Loose[]> {
  const { data } = await operator('GET', '/audit?page_size=100');
  return data.filter(({ actor }: Loose) => actor.type !== 'system');
}

/** The place of the newest entry of somebody in the trail: as long as it is the same, nobody has left another. */
export async function lastEntry(house: Pick<Harness, 'operator'>): Promise<number> {
  const [newest] = await entriesOfPeople(house);
  return newest.seq;
}

/** What people did after that, oldest first. */
export async function entriesAfter(house: Pick<Harness, 'operator'>, seq: number): Promise<Loose[]> {
  const entries = await entriesOfPeople(house);
  return entries.filter((entry) => entry.seq > seq).reverse();
}
