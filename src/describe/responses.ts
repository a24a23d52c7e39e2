import { waitingResponse } from '../contract/approval.ts';
import { type Endpoint, takesIdempotencyKey } from '../contract/endpoint.ts';
import { type JsonSchema, toReferencedSchema } from '../contract/json-schema.ts';
import {
  type ProblemCode,
  type ProblemDetails,
  problemBody,
  problemCatalogue,
  unreadable,
  unreadableBody,
  validationErrorBody,
} from '../contract/problems.ts';
import type { Audience, Examples } from './examples/examples.ts';
import { waitingExample } from './examples/people-examples.ts';
import {
  furtherDetails,
  operatorDetails,
  problemExample,
  REQUEST_ID_EXAMPLE,
  rulesOf,
  unreadableExample,
  validationExamples,
} from './examples/problem-examples.ts';
import type { Node } from './extensions.ts';
import { statusName } from './status-names.ts';

/** One document in the making: who reads it, and the components that its operations have asked for so far. */
export interface Draft {
  audience: Audience;
  /** Where error pages live. */
  origin: string;
  schemas: Map<string, JsonSchema>;
  responses: Map<string, Node>;
  parameters: Map<string, Node>;
}

/** What any call can meet, whatever it asks for. */
const sharedProblems = (audience: Audience): ProblemCode[] => [
  'invalid_credentials',
  'insufficient_permissions',
  ...(audience === 'partner' || audience === 'portal' ? (['forbidden'] as const) : []),
  'https_required',
  'payload_too_large',
  'rate_limit_exceeded',
  'internal_error',
  'service_unavailable',
];

/** The statuses of refusals that the specification names, for an operation or for the service as a whole. */
const specifiedStatuses = new Set([400, 401, 403, 404, 422, 429, 500]);

/** The specification names no header of a response. They are no components: OpenAPI Generator reads no references to headers. */
const headers = {
  'x-request-id': {
    description:
      'Names this call in our logs: the one that you sent if it was well-formed, otherwise a new one.',
    required: true,
    schema: { type: 'string' },
    example: REQUEST_ID_EXAMPLE,
  },
  'RateLimit-Policy': {
    description:
      'The limit that the call counts against: `q` requests in any `w` seconds. `default` is the one of the key, `operator` the one of an operator, `guest` the one of somebody who was invited, `address` the one of calls without a valid key or token. Left out when a call is refused before it is counted.',
    schema: { type: 'string' },
    example: '"default";q=300;w=60',
  },
  RateLimit: {
    description: 'What is left of the limit: `r` requests, and the seconds `t` until more are free.',
    schema: { type: 'string' },
    example: '"default";r=287;t=41',
  },
  'Retry-After': {
    description: 'Seconds to wait before the next call.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  'Idempotent-Replayed': {
    description:
      'True when the Idempotency-Key was sent before: nothing was done, and this is the answer of the first call.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  ETag: {
    description: 'The version of the record. Send it as `If-Match` to change only what you have seen.',
    required: true,
    schema: { type: 'string', pattern: '^"[^"]*"$' },
    example: '"7"',
  },
};

type HeaderName = keyof typeof headers;

export function responsesOf(endpoint: Endpoint, examples: Examples | undefined, draft: Draft): Node {
  const { status, description, body, stream, lines, page } = endpoint.response;
  const success: Node = {
    description,
    headers: headersOf([
      ...(endpoint.conditional && status !== 204 ? (['ETag'] as const) : []),
      ...(takesIdempotencyKey(endpoint) ? (['Idempotent-Replayed'] as const) : []),
    ]),
    ...(stream && { content: { 'text/event-stream': { schema: { type: 'string' }, ...shown(examples) } } }),
    ...(lines && { content: { 'application/x-ndjson': { schema: { type: 'string' }, ...shown(examples) } } }),
    ...(body &&
      !stream && {
        content: {
          ...json(toReferencedSchema(body, { io: 'output', components: draft.schemas }), examples),
          ...(page && { 'text/html': { schema: { type: 'string' } } }),
          ...(endpoint.lines && LINES),
        },
      }),
  };
  const responses: Node = {
    [status]: success,
    400: validationResponse(draft),
    408: unreadableResponse(408, draft),
    431: unreadableResponse(431, draft),
  };
  if (endpoint.approval)
    responses[waitingResponse.status] = component(draft, waitingResponse.status, () => ({
      description: waitingResponse.description,
      headers: headersOf(),
      content: json(
        toReferencedSchema(waitingResponse.body, { io: 'output', components: draft.schemas }),
        waitingExample,
      ),
    }));
  for (const [problemStatus, codes] of problemsOf(endpoint, draft.audience)) {
    responses[problemStatus] = problemResponse(problemStatus, codes, endpoint, draft);
  }
  return responses;
}

/** Every code that a call of this endpoint can meet, by status. */
function problemsOf(endpoint: Endpoint, audience: Audience): Map<number, ProblemCode[]> {
  const codes = new Set<ProblemCode>([
    ...sharedProblems(audience),
    ...(endpoint.method !== 'GET' && endpoint.method !== 'DELETE'
      ? (['unsupported_media_type'] as const)
      : []),
    ...(takesIdempotencyKey(endpoint) ? (['conflict'] as const) : []),
    ...endpoint.problems,
  ]);
  return Map.groupBy(codes, (code) => problemCatalogue[code].status);
}

function validationResponse(draft: Draft): Node {
  return component(draft, 400, () => ({
    description: 'The request is not valid. Every problem is listed, not just the first.',
    headers: headersOf(),
    content: json(
      toReferencedSchema(validationErrorBody, { io: 'output', components: draft.schemas }),
      validationExamples(draft.audience),
    ),
  }));
}

function unreadableResponse(status: keyof typeof unreadable, draft: Draft): Node {
  const { 'x-request-id': requestId } = headersOf();
  return component(draft, status, () => ({
    description: unreadable[status],
    'x-extension': true,
    headers: { 'x-request-id': requestId },
    content: json(toReferencedSchema(unreadableBody, { io: 'output', components: draft.schemas }), {
      unreadable: { summary: unreadable[status], value: unreadableExample(status) },
    }),
  }));
}

function problemResponse(status: number, codes: ProblemCode[], endpoint: Endpoint, draft: Draft): Node {
  const make = (examples: Examples): Node => ({
    description: describeCodes(status, codes),
    ...(!specifiedStatuses.has(status) && { 'x-extension': true }),
    headers: headersOf(problemHeaders(status)),
    content: json(toReferencedSchema(problemBody, { io: 'output', components: draft.schemas }), examples),
  });
  // Each operation has rules of its own; everything else is the same wherever it is met.
  return codes.includes('business_rule_violation')
    ? make(ruleExamples(endpoint, draft))
    : component(draft, status, () => make(codeExamples(codes, draft)));
}

function problemHeaders(status: number): HeaderName[] {
  return status === 429 || status === 503 ? ['Retry-After'] : [];
}

function ruleExamples(endpoint: Endpoint, { origin }: Draft): Examples {
  return Object.fromEntries(
    rulesOf(endpoint).map((details) => [
      details.rule,
      {
        summary: details.message ?? '',
        value: problemExample('business_rule_violation', origin, details),
        extension: true,
      },
    ]),
  );
}

function codeExamples(codes: ProblemCode[], { audience, origin }: Draft): Examples {
  const named: [string, ProblemCode, (ProblemDetails | undefined)?][] = codes.map((code) =>
    audience === 'operator' ? [code, code, operatorDetails[code]] : [code, code],
  );
  for (const code of audience === 'operator' ? [] : codes)
    for (const [name, details] of Object.entries(furtherDetails[code] ?? {}))
      named.push([name, code, details]);
  return Object.fromEntries(
    named.map(([name, code, details]) => [
      name,
      {
        summary: details?.message ?? problemCatalogue[code].message,
        value: problemExample(code, origin, details),
        // Codes may be specified; the body around them never is.
        extension: true,
      },
    ]),
  );
}

/** Under a specified status only the specified codes are named, if it has any; the others show among the examples. */
function describeCodes(status: number, codes: ProblemCode[]): string {
  const named = codes.filter(
    (code) => !(specifiedStatuses.has(status) && 'extension' in problemCatalogue[code]),
  );
  if (named.length === 0) return codes.map((code) => problemCatalogue[code].message).join('\n\n');
  return named.map((code) => `\`${code}\`: ${problemCatalogue[code].message}`).join('\n\n');
}

function headersOf(own: HeaderName[] = []): Node {
  const shared: HeaderName[] = ['x-request-id', 'RateLimit-Policy', 'RateLimit'];
  return Object.fromEntries(
    [...shared, ...own].map((name) => [name, { ...headers[name], 'x-extension': true }]),
  );
}

function component(draft: Draft, status: number, make: () => Node): Node {
  const name = statusName(status).replaceAll(' ', '');
  if (!draft.responses.has(name)) draft.responses.set(name, make());
  return { $ref: `#/components/responses/${name}` };
}

/** NDJSON: a JSON text on each line. */
export const LINES: Node = { 'application/x-ndjson': { schema: { type: 'string' } } };

/** A JSON body, of a request or of an answer. */
export function json(schema: JsonSchema, examples: Examples | undefined): Node {
  return { 'application/json': { schema, ...shown(examples) } };
}

function shown(examples: Examples | undefined): Node {
  if (!examples) return {};
  return {
    examples: Object.fromEntries(
      Object.entries(examples).map(([name, { summary, value, extension }]) => [
        name,
        { summary, value, ...(extension && { 'x-extension': true }) },
      ]),
    ),
  };
}
