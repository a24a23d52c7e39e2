import { z } from 'zod';
import type { ValidationEntry } from './validate.ts';

/**
 * The error catalogue: every refusal a caller can meet, with the sentence it carries and what to do about it.
 * A code is a promise: once published it keeps its status and its meaning.
 */
interface CatalogueEntry {
  status: number;
  /** The sentence in the body. The same for every cause, so that two refusals that must look alike do. */
  message: string;
  /** For the error's own page. */
  cause: string;
  remedy: string;
  /** True for codes that the specification does not name. */
  extension?: true;
}

export const problemCatalogue = {
  invalid_credentials: {
    status: 401,
    message: 'The API key is missing, invalid or expired. Check what you send in x-api-key.',
    cause:
      'No key or more than one was sent, the key was damaged, it is not one of ours, it has expired or been revoked, it is used from an address that it may not be used from or without the certificate or assertion that it needs, or it belongs to the other environment: keys that start with ptr_test_ work on staging, keys that start with ptr_live_ in production.',
    remedy:
      'Send the key in the x-api-key header (operators: a token in Authorization: Bearer). Check that it was copied whole; its last six characters are a checksum. If it was lost or leaked, ask support for a rotation.',
  },
  insufficient_permissions: {
    status: 403,
    message: 'The key lacks the scope that this operation needs. Ask support for a key that has it.',
    cause: 'The key is valid, but it was not issued with the scopes named in required_scopes.',
    remedy: 'Ask support for a key that carries the scopes in required_scopes.',
  },
  forbidden: {
    status: 403,
    message: 'The key may not act for this practice group. Check the ID in x-practice-group-id.',
    cause:
      'The practice group in x-practice-group-id is not the one that the key is tied to, and no network that lets the partner through holds both. Two extensions refuse as well, and the message says so: the practice has stopped the partner (also for a key of its own), or the network does not grant the scope that the operation needs.',
    remedy:
      'Check the ID in x-practice-group-id. To act for another practice, ask support to put both practices into one network, or to let the network grant the scope. The practice or support lifts a stop.',
  },
  https_required: {
    status: 403,
    message: 'Call this service over HTTPS.',
    cause: 'The call came over plain HTTP.',
    remedy:
      'Use the https:// address. If the key was sent over plain HTTP across a network, ask support to rotate it. Behind a proxy, name the proxy in PORTER_TRUST_PROXY and let it send x-forwarded-proto.',
    extension: true,
  },
  not_found: {
    status: 404,
    message: 'There is no such object that you can reach. Check the IDs in the path.',
    cause:
      'No operation has the path, or the object does not exist, or it belongs to a practice group other than the one acted for. The message says whether the path or the object is unknown. An object of another group reads like one that does not exist.',
    remedy:
      'If the path is unknown, compare it with the API reference. Otherwise check the ID in the path and the practice group in x-practice-group-id.',
    extension: true,
  },
  method_not_allowed: {
    status: 405,
    message: 'This address does not take that method. Use one that the Allow header names.',
    cause: 'The path exists, but not with this method.',
    remedy: 'Use one of the methods in the Allow header.',
    extension: true,
  },
  conflict: {
    status: 409,
    message: 'The request conflicts with the present state. Read the record, then decide again.',
    cause:
      'A record with this ID exists already, the step is not possible from the present state, or the record is still in use.',
    remedy:
      'Read the record, then decide again. If `used_by` is there, remove or change what it names first.',
    extension: true,
  },
  cursor_gone: {
    status: 410,
    message:
      'The feed was set back, and this cursor is from after that point: events that you have read were lost, and others take their places. Go on from resume_cursor.',
    cause:
      'The service was restored from a backup, or a standby that lagged behind took over. What was accepted last before that is gone, and new events have the places in the feed that the lost ones had.',
    remedy:
      'Read on from the cursor in resume_cursor: it leads to the first place that is not as you know it. You may see events again that you have: go by their IDs. Webhooks need nothing of this.',
    extension: true,
  },
  precondition_failed: {
    status: 412,
    message:
      'The record has changed since you read it, or If-Match is not its ETag as it was sent (with the quotes, without W/). Read it again, and send your change with the new ETag.',
    cause:
      'The ETag in If-Match is not the present one: somebody else changed the record in between. Or it is not what was sent: its quotes are missing, or a proxy has put `W/` before it.',
    remedy: 'Read the record again, apply your change to what you find, and send it with the new ETag.',
    extension: true,
  },
  payload_too_large: {
    status: 413,
    message: 'The body is larger than this operation takes. Send less in one request.',
    cause: 'Bodies are limited to 64 KiB (event batches: 2 MiB).',
    remedy: 'Send less in one request, and a large batch of events in several.',
    extension: true,
  },
  unsupported_media_type: {
    status: 415,
    message: 'Send the body as application/json, uncompressed.',
    cause: 'The Content-Type is not application/json, or the body has a Content-Encoding.',
    remedy: 'Set Content-Type: application/json and send plain UTF-8 JSON.',
    extension: true,
  },
  business_rule_violation: {
    status: 422,
    message: 'The request breaks a business rule.',
    cause: 'Each field is well-formed, but together they break the rule named in rule.',
    remedy: 'Change the fields that message and path name, so that the rule holds.',
    extension: true,
  },
  rate_limit_exceeded: {
    status: 429,
    message: 'Too many requests. Wait for the seconds in Retry-After, then back off exponentially.',
    cause:
      'More requests in 60 seconds than the limit allows: 300 for each key unless agreed otherwise; calls without a valid key have a limit of their own for each address.',
    remedy:
      'Wait for Retry-After, then retry with exponential backoff. Watch the RateLimit header to stay below. A higher limit is arranged with support.',
  },
  internal_error: {
    status: 500,
    message: 'Something went wrong on our side. Quote the request ID when you ask support.',
    cause: 'A fault in the service.',
    remedy: 'Retry with exponential backoff. If it persists, send support the request_id.',
    extension: true,
  },
  service_unavailable: {
    status: 503,
    message: 'The service cannot answer at the moment. Retry after the seconds in Retry-After.',
    cause:
      'The database is restarting, out of reach or too slow, the service is full or stopping, or the software of the practice, which is asked before a change, does not answer. Nothing about your request was wrong.',
    remedy: 'Retry after the seconds in Retry-After. An update may be repeated safely.',
    extension: true,
  },
} as const satisfies Record<string, CatalogueEntry>;

/** The messages of 401 to a partner, if the request itself shows the fault. Every other key gets the message of the catalogue. */
export const unknownKeys = {
  missing: 'The API key is missing. Send it in the x-api-key header.',
  in_authorization: 'The API key is missing. Send it in the x-api-key header, not in Authorization.',
  several: 'The request has more than one API key. Send x-api-key once, with one key.',
  other_environment:
    'The API key is for the other environment: ptr_test_ keys work on staging, ptr_live_ keys in production. Use the other key, or the other address.',
  not_a_key:
    'The text in x-api-key is no API key: a key starts with ptr_test_ or ptr_live_. Check what you send.',
  length: 'The API key does not have its length of 47 characters. Copy it again, whole and without spaces.',
  checksum: 'The checksum of the API key is wrong, so a character was changed. Copy it again.',
} as const;

/** The same for an operator. The operator chooses tokens freely, so a token has no checksum. */
export const unknownTokens = {
  missing: 'The operator token is missing. Send it as Authorization: Bearer pto_…',
  not_bearer: 'Authorization holds no bearer token. Send it as Authorization: Bearer pto_…',
  api_key: 'This operation takes an operator token, not an API key. Send it as Authorization: Bearer pto_…',
  refused: 'The operator token is invalid or expired. Ask an admin for another one.',
} as const;

/** The message of 404 if no operation has the path. Every other 404 has the message of the catalogue. */
export const PATH_UNKNOWN =
  'There is no operation at this path. Check the path: the API reference lists all of them.';

/** What 403 `forbidden` says to a partner that would reach the practice group, had the practice not stopped it. */
export const STOPPED_BY_PRACTICE =
  'The practice has stopped this partner: no key of it may act for the practice group until the stop is lifted. Ask the practice, or support.';

/** The message of 403 `forbidden` if a network holds both practice groups and does not grant what the operation needs. */
export const cappedByNetwork = (scopes: readonly string[]) =>
  `The network through which the key may act for this practice group does not grant ${scopes.join(' and ')}. Ask support for a wider network.`;

/** The 400 has no code in its body; this name stands for it in addresses and lists. */
export const validationEntry = {
  code: 'validation_error',
  status: 400,
  message: 'The request is not valid.',
  cause:
    'A field is missing, unknown, sent twice, read only, of the wrong type or out of range, or the body is not JSON. Here `error` is true, and `message` has one entry for every problem found, each with `code`, `expected`, `path` and `message`.',
  remedy:
    'Go through the entries: `path` leads to the field, `expected` and `message` say what belongs there. An empty `path` means the body as a whole. Nothing was changed, so correct the request and send it again.',
} as const;

export type ProblemCode = keyof typeof problemCatalogue;
export const problemCodes = Object.keys(problemCatalogue) as [ProblemCode, ...ProblemCode[]];

/** What some refusals say in addition. */
export interface ProblemDetails {
  message?: string;
  required_scopes?: readonly string[];
  required_roles?: readonly string[];
  rule?: string;
  path?: readonly (string | number)[];
  /** Seconds. */
  retry_after?: number;
  resume_cursor?: string;
  used_by?: readonly { type: string; count: number; ids: readonly string[] }[];
}

/** An expected refusal: it has a place in the catalogue, and whoever meets it can do something about it. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly status: number;
  readonly details: ProblemDetails;

  constructor(code: ProblemCode, details: ProblemDetails = {}) {
    super(details.message ?? problemCatalogue[code].message);
    this.code = code;
    this.status = problemCatalogue[code].status;
    this.details = details;
  }
}

export class ValidationProblem extends Error {
  readonly entries: ValidationEntry[];

  constructor(entries: ValidationEntry[]) {
    super('The request is not valid.');
    this.entries = entries;
  }
}

const validationEntries = z.array(
  z.object({
    code: z.string().meta({ description: 'The kind of problem.', examples: ['invalid_type'] }),
    expected: z.string().meta({ description: 'The expected type.', examples: ['string'] }),
    path: z
      .array(z.union([z.string(), z.int()]))
      .meta({ description: 'Where the offending field is; empty for the body itself.' }),
    message: z.string().meta({ description: 'The problem, as a sentence.' }),
  }),
);

export const validationErrorBody = z
  .object({
    error: z.literal(true).meta({ description: 'Always true: a 400 has no code.' }),
    // No constant: of a constant that is a number, OpenAPI Generator makes Java that does not compile.
    statusCode: z.number().min(400).max(400).meta({ description: 'The HTTP status: 400.' }),
    message: validationEntries.meta({ description: 'One entry for each problem.' }),
  })
  .meta({ id: 'ValidationError', description: 'Every problem of the request, one entry each.' });

/** What ends before there is a request that could be read. */
export const unreadable = {
  408: 'The request took too long to arrive.',
  431: 'The headers are too large.',
} as const;

export const unreadableBody = z
  .object({
    error: z.literal(true).meta({ description: 'Always true: there is no code.' }),
    statusCode: z.int().meta({ description: 'The HTTP status.' }),
    message: validationEntries.meta({ description: 'The parts that could not be read.' }),
  })
  .meta({
    id: 'UnreadableRequest',
    description: 'As a validation error: there was no request that could be read.',
  });

export const problemBody = z
  .object({
    error: z.enum(problemCodes).meta({ description: 'The code of the problem. It is stable.' }),
    statusCode: z.int().meta({ description: 'The HTTP status.' }),
    message: z.string().meta({ description: 'The problem and the remedy, as a sentence.' }),
    request_id: z.string().meta({ description: 'Quote it to support; it is also in x-request-id.' }),
    doc_url: z.string().meta({ format: 'uri', description: 'A page about this error.' }),
    required_scopes: z
      .array(z.string())
      .optional()
      .meta({ description: 'With insufficient_permissions: what the key lacks.' }),
    required_roles: z
      .array(z.string())
      .optional()
      .meta({ description: 'With insufficient_permissions on the operator API.' }),
    rule: z
      .string()
      .optional()
      .meta({ description: 'With business_rule_violation: the rule that is broken.' }),
    path: z
      .array(z.union([z.string(), z.int()]))
      .optional()
      .meta({ description: 'With business_rule_violation: the field to look at.' }),
    retry_after: z
      .int()
      .optional()
      .meta({ description: 'With rate_limit_exceeded: seconds to wait, as in Retry-After.' }),
    resume_cursor: z.string().optional().meta({ description: 'With cursor_gone: the cursor to go on from.' }),
    used_by: z
      .array(
        z.object({
          type: z.string().meta({ description: 'The type of the objects.' }),
          count: z.int().meta({ description: 'The number of such objects.' }),
          ids: z.array(z.string()).meta({ description: 'The IDs of the first few.' }),
        }),
      )
      .optional()
      .meta({
        description:
          'With conflict, when something in use was to be removed: what uses it, how many, and the first few.',
      }),
  })
  .meta({ id: 'Problem', description: 'A refusal, with a stable code in `error`.', 'x-extension': true });
