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
  ids: { partners?: Ids; groups?: Ids },
): Promise<{ partner: WithName; group: WithName }> {
  const [partner, group] = await Promise.all([
    withNames(api, '/partners', out.isForPeople ? ids.partners : undefined),
    withNames(api, '/practice-groups', out.isForPeople ? ids.groups : undefined),
  ]);
  return { partner, group };
}

async function withNames(api: Api, path: string, ids: Ids = []): Promise<WithName> {
  const wanted = [...new Set(ids)].filter((id) => id !== null && id !== undefined).slice(0, NAMES_MAX);
  const names = new Map<string, string>();
  await Promise.all(
    wanted.map(async (id) => {
      const { name } = await api
        .operator<{ name?: string }>('GET', `${path}/${segment(id)}`)
        .catch((error) => {
          // It was deleted, or the token may not read it: the list is worth showing all the same.
          if (error instanceof Failure) return { name: undefined };
          throw error;
        });
      if (name !== undefined) names.set(id, name);
    }),
  );
  return (id) => (id === null || id === undefined ? null : named(names.get(id), id));
}

export function named(name: string | null | undefined, id: string): string {
  return name === null || name === undefined || name === id ? id : `${name} (${id})`;
}
