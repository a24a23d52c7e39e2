import type { Api } from './api.ts';
import { Failure } from './exit.ts';
import type { Printer } from './printer.ts';
import { segment } from './segment.ts';

/** Each costs a call: of a list with more than so many, the others are shown by their IDs alone. */
const NAMES_MAX = 50;

type Ids = Iterable<string | null | undefined>;
type WithName = (id: string | null | undefined) => string | null;

/** Names beside IDs, in lists that people read. A program that asked for JSON gets what the API answers, and no call is made. */
export async function namesOf(
  api: Api,
  out: Printer,
  ids: { partners?: Ids; groups?: Ids; keys?: Ids },
): Promise<{ partner: WithName; group: WithName; key: WithName }> {
  const nameAt = async (path: string, id: string) =>
    (await api.operator<{ name: string }>('GET', `${path}/${segment(id)}`)).name;
  const partnerName = (id: string) => nameAt('/partners', id);
  const [partner, group, key] = await Promise.all([
    withNames(partnerName, out.isForPeople ? ids.partners : undefined),
    withNames((id) => nameAt('/practice-groups', id), out.isForPeople ? ids.groups : undefined),
    // A key is known by its partner.
    withNames(
      async (id) => {
        const { partner_id } = await api.operator<{ partner_id: string }>('GET', `/keys/${segment(id)}`);
        return partnerName(partner_id);
      },
      out.isForPeople ? ids.keys : undefined,
    ),
  ]);
  return { partner, group, key };
}

async function withNames(nameOf: (id: string) => Promise<string>, ids: Ids = []): Promise<WithName> {
  const wanted = [...new Set(ids)].filter((id) => id !== null && id !== undefined).slice(0, NAMES_MAX);
  const names = new Map<string, string>();
  await Promise.all(
    wanted.map(async (id) => {
      try {
        names.set(id, await nameOf(id));
      } catch (error) {
        // It was deleted, or the token may not read it: the list is worth showing all the same.
        if (!(error instanceof Failure)) throw error;
      }
    }),
  );
  return (id) => (id === null || id === undefined ? null : named(names.get(id), id));
}

export function named(name: string | null | undefined, id: string): string {
  return name === null || name === undefined || name === id ? id : `${name} (${id})`;
}
