import fc from 'fast-check';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { operatorEndpoints } from '../../src/contract/operator/index.ts';
import { partnerEndpoints } from '../../src/contract/partner/index.ts';
import { anyBody, type Known, moments, nastyText } from './fuzz-bodies.ts';

/** Requests of every kind that can still be framed as one HTTP request and so must get exactly one answer. */

export interface FuzzedRequest {
  method: string;
  target: string;
  headers: [string, string][];
  body: Buffer | undefined;
  chunked: boolean;
}

export interface Callers extends Known {
  /** Keys that work, and strings that are no keys. */
  apiKeys: string[];
  tokens: string[];
}

const endpoints: Endpoint[] = [...Object.values(partnerEndpoints), ...Object.values(operatorEndpoints)];
const weighted = <T>(...choices: [number, fc.Arbitrary<T>][]) =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));

/** Any bytes that do not end a line: HTTP's head is read byte by byte, and text in it is UTF-8 by chance only. */
function latin1(maxLength: number): fc.Arbitrary<string> {
  const printable = (letter: string) => letter >= ' ' && letter !== '\x7f';
  return fc
    .string({ unit: 'binary', maxLength })
    .map((text) => [...Buffer.from(text).toString('latin1')].filter(printable).join(''));
}

/** Bytes that may stand in a request line: everything but blanks, which would end it. */
const rawSegment = latin1(12).map((text) => text.replaceAll(' ', ''));
const segment = fc.oneof(
  rawSegment,
  nastyText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom(
    '.',
    '..',
    '%2e%2e',
    '%2F',
    '%5c',
    '%00',
    '%',
    '%zz',
    '%c3%28',
    '%ed%a0%80',
    '*',
    ':id',
    ';x=1',
    '~',
  ),
  fc.integer({ min: 200, max: 6_000 }).map((length) => 'y'.repeat(length)),
);

const cursor = fc
  .oneof(
    fc.jsonValue(),
    fc.tuple(fc.oneof(fc.maxSafeInteger(), fc.double(), fc.string()), fc.string({ unit: 'binary' })),
    fc.tuple(fc.oneof(fc.maxSafeInteger(), fc.string({ unit: 'binary' }))),
  )
  .map((value) => Buffer.from(JSON.stringify(value)).toString('base64url'));
const queryValues: Record<string, fc.Arbitrary<string>> = {
  include: fc.constantFrom('network', 'networks', ''),
  page_size: fc.constantFrom('1', '2', '100', '0', '101', '-1', '1e3', ' 1', '999999999', '9999999999'),
  cursor,
  since: moments,
  until: moments,
  status: fc.constantFrom('verified', 'applied', 'gone', 'queued', 'paused', 'pending', 'failed'),
  event: fc.constantFrom('prescription.issued', 'none'),
  event_types: fc.constantFrom(
    'prescription.issued',
    'prescription.issued,appointment.confirmed',
    'none',
    ',',
  ),
};
const encoded = (pairs: [string, string][]) =>
  `?${pairs.map((pair) => pair.map((text) => encodeURIComponent(text.toWellFormed())).join('=')).join('&')}`;

function queryOf(endpoint: Endpoint): fc.Arbitrary<string> {
  const known = Object.keys(endpoint.query?.shape ?? {});
  const stray = weighted<string>(
    [2, fc.tuple(nastyText, nastyText).map((pair) => encoded([pair]))],
    [1, rawSegment.map((text) => `?${text}`)],
    [
      1,
      fc.constantFrom(
        '?',
        '??',
        '?&&',
        '?a[b]=c',
        '?include=network&include=network',
        '?%',
        '?page_size=%00',
        '#x',
      ),
    ],
  );
  if (known.length === 0) return weighted([8, fc.constant('')], [1, stray]);
  const pair = fc
    .constantFrom(...known)
    .chain((name) =>
      fc.tuple(fc.constant(name), weighted([6, queryValues[name] ?? nastyText], [1, nastyText])),
    );
  return weighted(
    [4, fc.constant('')],
    [6, fc.array(pair, { minLength: 1, maxLength: 2 }).map(encoded)],
    [1, stray],
  );
}

function paramOf(
  name: string,
  { groups, types, partners, keys, networks, operators, jobs, events, webhooks, deliveries }: Callers,
  path: string,
) {
  const noun = /\/v1\/([a-z-]+)\/\{id\}/.exec(path)?.[1] ?? '';
  const byNoun: Record<string, string[]> = {
    'practice-groups': groups,
    networks,
    partners,
    keys,
    operators,
    'write-to-record-jobs': jobs,
    events,
    webhooks,
    deliveries,
  };
  const byName: Record<string, string[]> = {
    id: byNoun[noun] ?? types,
    practice_group_id: groups,
    submission_type_id: types,
    delivery_id: deliveries,
    request_id: ['the-same', 'req_none'],
    form_id: ['form-1'],
    assignee_type: ['Admin', 'AdminTeam', 'admin'],
    assignee_id: ['ann', 'desk'],
    seq: ['1', '2', '0', '999999999999999', '9999999999999999'],
  };
  return weighted<string>(
    [8, fc.constantFrom(...(byName[name] ?? ['none']))],
    [1, fc.constant('none')],
    [1, segment],
  );
}

function pathOf(endpoint: Endpoint, callers: Callers): fc.Arbitrary<string> {
  const parts = endpoint.path.split('/').slice(1);
  const filled = parts.map((part) =>
    part.startsWith('{') ? paramOf(part.slice(1, -1), callers, endpoint.path) : fc.constant(part),
  );
  return fc.tuple(...filled).map((done) => `/${done.join('/')}`);
}

const damage: fc.Arbitrary<(path: string) => string> = fc.oneof(
  fc.constantFrom<(path: string) => string>(
    (path) => `${path}/`,
    (path) => `/${path}`,
    (path) => path.toUpperCase(),
    (path) => path.replace('/', '//'),
    (path) => path.replaceAll('-', '%2D'),
    (path) => path.replace('v1', 'v2'),
    (path) => path.replace('/v1', '/v1/../v1'),
    (path) => path.replaceAll('/', '%2f').replace('%2f', '/'),
    (path) => path.slice(0, -1),
  ),
  segment.map((text) => (path: string) => `${path}/${text}`),
);

const strayPath = fc.oneof(
  fc.array(segment, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
  fc.constantFrom(
    '/',
    '/v1',
    '/v1/',
    '/operator/v1',
    '/healthz',
    '/readyz',
    '/docs/errors',
    '/docs/errors/not_found',
  ),
  segment.map((text) => `/docs/errors/${text}`),
);

const headerText = latin1(60);
const ifMatch = fc.oneof(
  fc.constantFrom('*', '"1"', '"2", "1"', 'W/"1"', '1', '"', ',,,', '*, "1"'),
  headerText,
);
const named = (name: string, values: fc.Arbitrary<string>) =>
  values.map((value): [string, string] => [name, value]);
const oddHeader: fc.Arbitrary<[string, string]> = fc.oneof(
  named('content-encoding', fc.constantFrom('gzip', 'identity', 'br, gzip', 'IDENTITY', '')),
  named('if-match', ifMatch),
  named('idempotency-key', fc.oneof(fc.constantFrom('a', 'b', '', 'x'.repeat(256)), headerText)),
  named(
    'x-request-id',
    fc.oneof(fc.constantFrom('abc', 'a b', 'x'.repeat(128), 'x'.repeat(129), ''), headerText),
  ),
  named('x-forwarded-for', fc.oneof(fc.constantFrom('1.2.3.4', '::1', ',,', 'unknown'), headerText)),
  named('x-forwarded-proto', fc.oneof(fc.constantFrom('https', 'http', ','), headerText)),
  named('accept', fc.constantFrom('*/*', 'text/html', 'application/xml;q=0', '')),
  named('accept-encoding', fc.constantFrom('gzip', '*;q=0', 'identity;q=0')),
  named('connection', fc.constantFrom('close', 'keep-alive', 'upgrade')),
  named('range', fc.constantFrom('bytes=0-1', 'bytes=-')),
  named('x-api-key', headerText),
  named('authorization', fc.oneof(fc.constantFrom('Bearer', 'Basic YTpi', 'bearer  x'), headerText)),
  named('x-practice-group-id', headerText),
  named('cookie', headerText),
  named('x-http-method-override', fc.constantFrom('DELETE', 'PATCH')),
  named('origin', fc.constantFrom('null', 'https://evil.example')),
  named(
    'x-long',
    fc.integer({ min: 1_000, max: 7_000 }).map((length) => 'z'.repeat(length)),
  ),
  named('expect', fc.constant('100-continue')),
);
const contentType = weighted<string | undefined>(
  [8, fc.constant('application/json')],
  [
    2,
    fc.constantFrom(
      'application/json; charset=utf-8',
      'APPLICATION/JSON',
      'application/json;charset="UTF-8" ',
    ),
  ],
  [
    2,
    fc.constantFrom(
      'text/plain',
      'application/json; charset=latin1',
      'application/merge-patch+json',
      'application/xml',
      '',
    ),
  ],
  [1, headerText],
  [1, fc.constant(undefined)],
);
const otherMethod = fc.constantFrom(
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'M-SEARCH',
  'LOCK',
);

export function fuzzedRequest(callers: Callers): fc.Arbitrary<FuzzedRequest> {
  const identity = fc.record({
    apiKey: weighted<string | undefined>(
      [24, fc.constantFrom(...callers.apiKeys)],
      [1, headerText],
      [1, fc.constant(undefined)],
    ),
    group: weighted<string | undefined>(
      [24, fc.constantFrom(...callers.groups)],
      [1, fc.constant('none')],
      [1, headerText],
      [1, fc.constant(undefined)],
    ),
    token: weighted<string | undefined>(
      [24, fc.constantFrom(...callers.tokens)],
      [1, headerText],
      [1, fc.constant(undefined)],
    ),
  });
  return fc.constantFrom(...partnerEndpointsMoreOften).chain((endpoint) =>
    fc
      .record({
        method: weighted([12, fc.constant<string>(endpoint.method)], [1, otherMethod]),
        path: weighted<string>([12, pathOf(endpoint, callers)], [1, strayPath]),
        damage: weighted<((path: string) => string) | undefined>([12, fc.constant(undefined)], [1, damage]),
        query: queryOf(endpoint),
        ifMatch: weighted<string | undefined>([2, fc.constant(undefined)], [1, ifMatch]),
        identity,
        type: contentType,
        odd: weighted<[string, string][]>([3, fc.constant([])], [1, fc.array(oddHeader, { maxLength: 4 })]),
        body: endpoint.body
          ? fc.option(anyBody(endpoint.operationId, callers), { freq: 20, nil: undefined })
          : fc.option(anyBody('updateSubmissionType', callers), { freq: 2, nil: undefined }),
        chunked: fc.integer({ min: 0, max: 7 }).map((n) => n === 0),
      })
      .map(
        ({
          method,
          path,
          damage: damaged,
          query: search,
          identity: who,
          type,
          odd,
          body,
          chunked,
          ifMatch: tag,
        }) => ({
          method,
          target: (damaged ? damaged(path) : path) + search,
          headers: [
            ...(who.apiKey === undefined ? [] : [['x-api-key', who.apiKey] as [string, string]]),
            ...(who.group === undefined ? [] : [['x-practice-group-id', who.group] as [string, string]]),
            ...(who.token === undefined
              ? []
              : [['authorization', `Bearer ${who.token}`] as [string, string]]),
            ...(type === undefined || body === undefined ? [] : [['content-type', type] as [string, string]]),
            ...(tag === undefined ? [] : [['if-match', tag] as [string, string]]),
            ...odd,
          ],
          body,
          chunked,
        }),
      ),
  );
}

/** The specified operations are few; half of all requests are theirs. The audit trail has the most to ask for. */
const partnerEndpointsMoreOften: Endpoint[] = [
  ...endpoints,
  ...Array.from({ length: 3 }, () => operatorEndpoints.listAudit),
  ...Array.from({ length: 10 }, () => Object.values(partnerEndpoints)).flat(),
];

/** The request as bytes on the wire. */
export function onTheWire({ method, target, headers, body, chunked }: FuzzedRequest): Buffer {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'host: porter.example',
    ...headers.map(([n, v]) => `${n}: ${v}`),
  ];
  if (body && chunked) lines.push('transfer-encoding: chunked');
  else if (body) lines.push(`content-length: ${body.length}`);
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  if (!body) return head;
  if (!chunked) return Buffer.concat([head, body]);
  const middle = Math.floor(body.length / 2);
  const chunks = [body.subarray(0, middle), body.subarray(middle)].filter((chunk) => chunk.length > 0);
  const framed = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([head, ...framed, Buffer.from('0\r\n\r\n')]);
}
