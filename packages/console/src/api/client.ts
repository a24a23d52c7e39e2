import {
  infiniteQueryOptions,
  QueryClient,
  queryOptions,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { PorterApiError } from '../../../sdk/src/errors.ts';
import { follow } from '../../../sdk/src/follow.ts';
import { isRecord } from '../../../sdk/src/shape.ts';
import { Transport } from '../../../sdk/src/transport.ts';
import { type Operations as OperatorOperations, operations as operatorTable } from './generated.ts';
import { type Operations as PortalOperations, operations as portalTable } from './generated-portal.ts';

/**
 * Every call of the console: by the name that the contract gives it, through the client library's transport. The session travels in a
 * cookie that no script can read; the header tells the service that it was this page that asked.
 */
const own = { baseUrl: '', headers: { 'x-porter-console': '1' }, maxRetries: 1 };
const transport = new Transport(own);

type Operations = OperatorOperations & PortalOperations;
/** Names are never the same in both. */
const operations = { ...operatorTable, ...portalTable };

/** The key that somebody of a partner acts with, and the practice that they act for. */
export interface Acting {
  key_id: string;
  practice_group_id: string;
}

/** What people do with a key of their partner: operations of the partner API, and the feed as they see it. */
type WithKey = {
  [K in keyof typeof portalTable]: (typeof portalTable)[K][1] extends `/v1/${string}` | '/portal/v1/events'
    ? K
    : never;
}[keyof typeof portalTable];

export type Operation = keyof Operations;
export type InputOf<K extends Operation> = Operations[K]['input'] &
  (K extends WithKey ? { way: Acting } : unknown);
type Answer<K extends Operation> = Operations[K]['answer'];
interface Parts {
  way?: Acting;
  params?: Record<string, string | number>;
  query?: object;
  body?: unknown;
}

interface CallOptions {
  signal?: AbortSignal;
  ifMatch?: string;
}

export interface Answered<K extends Operation> {
  data: Answer<K>;
  etag: string | undefined;
}

export async function ask<K extends Operation>(
  name: K,
  input: InputOf<K>,
  options: CallOptions = {},
): Promise<Answered<K>> {
  const [method, template] = operations[name];
  const { way, params = {}, query, body } = input as Parts;
  const headers = way && { 'x-porter-key': way.key_id, 'x-practice-group-id': way.practice_group_id };
  const path = template.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(params[key])));
  const request = {
    method,
    path,
    ...(query && { query }),
    ...(body !== undefined && { body }),
    ...(headers && { headers }),
    options,
  };
  const { data, etag } = await transport.call<Answer<K>>(request).withResponse();
  return { data, etag };
}

/** What was asked before this script was there is not asked again. */
const asking = new Transport({
  ...own,
  fetch: (url, init) => {
    const early = globalThis.askedEarly;
    globalThis.askedEarly = undefined;
    return early ?? fetch(url, init);
  },
});

/** Of people who were invited as well: no part of the API, since it is asked before it is known which part of it somebody reaches. */
export async function whoAmI(signal: AbortSignal): Promise<unknown> {
  const { data } = await asking
    .call({ method: 'GET', path: '/console/me', options: { signal } })
    .withResponse();
  return data;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The live stream says what has changed (frame/live.ts); what it does not speak of is asked again when it is looked at again.
      staleTime: 10_000,
      retry: false,
      refetchOnWindowFocus: true,
    },
  },
});

/** One thing. Its key begins with the operation, so that everything that an operation answered can be asked for again. */
export function one<K extends Operation>(name: K, input: InputOf<K>) {
  return queryOptions({
    queryKey: [name, input] as const,
    queryFn: async ({ signal }) => (await ask(name, input, { signal })).data,
  });
}

/** One thing with the ETag that a change of it is to name. */
export function withEtag<K extends Operation>(name: K, input: InputOf<K>) {
  return queryOptions({
    queryKey: [name, input, 'etag'] as const,
    queryFn: ({ signal }) => ask(name, input, { signal }),
  });
}

interface PageOf<Item> {
  data: Item[];
  next_cursor: string | null;
  has_more?: boolean;
}

/** The operations whose answers are pages. */
export type ListOperation = {
  [K in Operation]: Answer<K> extends PageOf<unknown> ? K : never;
}[Operation];
export type ItemOf<K extends ListOperation> = Answer<K> extends PageOf<infer Item> ? Item : never;

const PAGE_SIZE = 100;

async function askPage<K extends ListOperation>(
  name: K,
  input: InputOf<K>,
  cursor: string | undefined,
  signal: AbortSignal,
) {
  const { query } = input as Parts;
  const asked = { ...input, query: { page_size: PAGE_SIZE, ...query, cursor } };
  return (await ask(name, asked as InputOf<K>, { signal })).data as unknown as PageOf<ItemOf<K>>;
}

/** A list, page after page by its cursor. */
export function pages<K extends ListOperation>(name: K, input: InputOf<K>) {
  return infiniteQueryOptions({
    queryKey: [name, input, 'pages'] as const,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ signal, pageParam: cursor }) => askPage(name, input, cursor, signal),
    // The feed has a place to go on from even at its end.
    getNextPageParam: (last) => (last.has_more === false ? undefined : (last.next_cursor ?? undefined)),
  });
}

const ALL_PAGES_MAX = 20;

/** The whole of a list that is needed together, such as the choices of a field: up to 2,000 entries. */
export function all<K extends ListOperation>(name: K, input: InputOf<K>) {
  return queryOptions({
    queryKey: [name, input, 'all'] as const,
    queryFn: async ({ signal }) => {
      const data: ItemOf<K>[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < ALL_PAGES_MAX; page++) {
        const { data: more, next_cursor } = await askPage(name, input, cursor, signal);
        data.push(...more);
        cursor = next_cursor ?? undefined;
        if (cursor === undefined) break;
      }
      return { data, isCut: cursor !== undefined };
    },
  });
}

/** A change; what the named operations have answered is asked for again once it is done. Nothing is shown as done that was not answered. */
export function useChange<K extends Operation>(name: K, changes: readonly Operation[]) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ ifMatch, ...input }: InputOf<K> & { ifMatch?: string | undefined }) =>
      ask(name, input as InputOf<K>, ifMatch === undefined ? {} : { ifMatch }),
    onSuccess: () =>
      Promise.all(changes.map((operation) => client.invalidateQueries({ queryKey: [operation] }))),
  });
}

export const isStatus = (error: unknown, status: number): boolean =>
  error instanceof PorterApiError && error.status === status;

interface News {
  kinds: string[];
}

/** The streams of news, one for each of the three people. */
export type NewsStream = 'streamLive' | 'streamPortalLive' | 'streamPracticeLive';

/** Which kinds of things may have changed, as it happens. A connection that is lost is replaced; a refusal throws. */
export const news = (stream: NewsStream, signal: AbortSignal) =>
  follow(transport, operations[stream][1], { signal }, (item): News | undefined =>
    isRecord(item) && Array.isArray(item.kinds) ? { kinds: item.kinds } : undefined,
  );
