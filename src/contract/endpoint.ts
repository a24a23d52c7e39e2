import type { z } from 'zod';
import type { ApprovalKind, GuestKind, Role, Scope } from './access.ts';
import type { ProblemCode } from './problems.ts';
import type { RuleName } from './rules.ts';
import type { ValidationEntry } from './validate.ts';
import type { WithVerbatim } from './verbatim.ts';

/**
 * An endpoint is declared once, as data. Routing, authorisation, validation, serialisation, the OpenAPI document and
 * the types of its handler are all read off this declaration.
 */
export interface Endpoint {
  operationId: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** In OpenAPI's notation: `/v1/care-nav/submission-types/{id}`. */
  path: `/${string}`;
  tag: string;
  summary: string;
  description?: string;
  /** True for what the specification does not name: removing every extension leaves exactly the specified service. */
  extension: boolean;
  /**
   * Who may call it: partners by scope (and a second one, where it takes two), or with any key that works; operators by role; people of a
   * partner or of a practice who were invited into the console. What is `aboutItself` tells a partner about itself and its key: no practice
   * group is acted for, and x-practice-group-id is not looked at.
   */
  access:
    | { scope: Scope; and?: Scope }
    | { anyKey: true; aboutItself?: true }
    | { roles: readonly Role[] }
    | { guests: GuestKind };
  /** Of an operation of partners: their people may do it in the portal, with one of the partner's keys (http/guests.ts); `only`: nobody else may. */
  portal?: true | 'only';
  params?: z.ZodObject;
  query?: z.ZodObject;
  body?: z.ZodType;
  /** Fields that exist on the resource but cannot be set through this body. */
  readOnly?: readonly string[];
  bodyBytesMax?: number;
  /** The body comes as NDJSON, any number of lines, which the handler takes one after the other; `also`: or as the declared body. */
  lines?: 'only' | 'also';
  /** The body may be left out altogether. */
  bodyOptional?: true;
  /** The endpoint understands If-Match, and its answers carry an ETag. */
  conditional?: true;
  /** The answer may take long: the handler is told when nobody waits for it any more. */
  long?: true;
  /**
   * How a POST that is made again with its Idempotency-Key is done once. Unless said otherwise, its answer is kept with what it changes. `own`: the
   * operation sees to it. `afterwards`: it takes several transactions and does no harm when it is done again; its answer is kept at the end.
   * `gathered`: it shares a transaction with other calls, which keeps the answers of all of them.
   */
  idempotency?: 'own' | 'afterwards' | 'gathered';
  response: {
    status: 200 | 201 | 202 | 204;
    description: string;
    body?: z.ZodType;
    /** Parts of the body must leave byte for byte as they are stored; the handler gives them as `Verbatim`. */
    verbatim?: true;
    /** The same can be had as a page for people: `text/html` in Accept. */
    page?: true;
    /** The answer goes on: a text/event-stream whose events each carry such a body as their data. */
    stream?: true;
    /** The answer goes on: NDJSON, a JSON text on each line. */
    lines?: true;
  };
  /** Where the deployment asks for it, this waits for a second person: it then answers 202, with what waits. */
  approval?: ApprovalKind;
  /** Only a change that widens waits. A change that narrows is made at once. */
  approvalFor?: 'widening';
  /** Refusals of this endpoint's own; those that every endpoint shares are added where they are documented. */
  problems: readonly ProblemCode[];
  /** The rules behind business_rule_violation. */
  rules?: readonly RuleName[];
}

/** What an answer showed of whom, for the access log. */
export interface Read {
  practiceGroupId?: string | undefined;
  object?: string | undefined;
  objectId?: string | undefined;
  eventId?: string | undefined;
  /** Of what was shown of the feed, and of which events alone. */
  positions?: { first: number; last: number; eventTypes?: readonly string[] | undefined } | undefined;
  /** Names no object of a patient. */
  isOfSettings?: true;
}

export const BODY_BYTES_MAX = 64 * 1024;
/** Of a line of NDJSON. */
export const LINE_BYTES_MAX = 64 * 1024;
/** Visible ASCII characters. */
export const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;

/** Endpoints in the order of their declarations: the exports of a module come in alphabetical order. */
const declared = new Map<unknown, number>();

export function defineEndpoint<const E extends Endpoint>(endpoint: E): E {
  declared.set(endpoint, declared.size);
  return endpoint;
}

type EndpointsIn<Module> = { [K in keyof Module as Module[K] extends Endpoint ? K : never]: Module[K] };
type EndpointsOf<Modules extends object[]> = Modules extends [infer First, ...infer Rest extends object[]]
  ? EndpointsIn<First> & EndpointsOf<Rest>
  : unknown;

/** Every endpoint that these modules export, by its name, in the order of the modules and of the declarations in each. */
export function endpointsOf<Modules extends object[]>(...modules: Modules) {
  const placeOf = ([, endpoint]: [string, unknown]) => declared.get(endpoint) ?? 0;
  const entries = modules.flatMap((module) =>
    Object.entries<unknown>(module as Record<string, unknown>)
      .filter(([, value]) => declared.has(value))
      .toSorted((one, other) => placeOf(one) - placeOf(other)),
  );
  return Object.fromEntries(entries) as { [K in keyof EndpointsOf<Modules>]: EndpointsOf<Modules>[K] };
}

/** The scopes that a partner's key needs for it, all of them. */
export function scopesFor({ access }: Pick<Endpoint, 'access'>): readonly Scope[] {
  if (!('scope' in access)) return [];
  return access.and ? [access.scope, access.and] : [access.scope];
}

/**
 * The same call made again with the same Idempotency-Key is answered again and done once: every POST, but for answers that go on, and for what
 * is sent line by line. Lines either change nothing when they are sent again, or their operation sees to their keys (`own`).
 */
export function takesIdempotencyKey({
  method,
  lines,
  idempotency,
  response,
}: Pick<Endpoint, 'method' | 'lines' | 'idempotency' | 'response'>): boolean {
  return method === 'POST' && (!lines || idempotency === 'own') && !response.stream && !response.lines;
}

type Output<S> = S extends z.ZodType ? z.output<S> : undefined;
type Property<E, K extends string> = E extends { [P in K]: infer V } ? V : undefined;

/** What a handler is given, after every check of the declaration has passed. */
export type Input<E extends Endpoint> = PlainInput<E> &
  (Property<E, 'long'> extends true ? LongInput : unknown) &
  (Property<E, 'lines'> extends string ? LinesInput : unknown) &
  (Property<E['response'], 'lines'> extends true ? LastingInput : unknown) &
  (Property<E['response'], 'stream'> extends true ? StreamInput : unknown);

interface PlainInput<E extends Endpoint> {
  params: Output<Property<E, 'params'>>;
  query: Output<Property<E, 'query'>>;
  body:
    | Output<Property<E, 'body'>>
    | (Property<E, 'bodyOptional'> extends true ? undefined : Output<Property<E, 'body'>>);
  /** The If-Match header as sent. */
  ifMatch: string | undefined;
  /** The Idempotency-Key header of a POST. */
  idempotencyKey?: string | undefined;
}

interface LongInput {
  /** Aborted when nobody waits for the answer any more. */
  gone: AbortSignal;
}

/** A line of NDJSON: its place in the body, from 0 on, and what it says or what is wrong with it. */
export type Line = { index: number } & (
  | { value: unknown }
  | { problems: ValidationEntry[] }
  | { isTooLong: true }
);

/** Of a call that goes on, however long: whoever has lost their access meanwhile is not to go on with it. */
interface LastingInput {
  /** Whether the same call would be let in at this moment. */
  stillAdmitted(): Promise<boolean>;
}

interface LinesInput extends LastingInput {
  /** As they come; nothing is read ahead of whoever takes them. Undefined for a body that is no NDJSON. */
  lines: AsyncIterable<Line[]> | undefined;
}

interface StreamInput extends LastingInput {
  /** The Last-Event-ID header as sent. */
  lastEventId: string | undefined;
}

/** An answer that goes on: text as it comes, until it ends or whoever reads it is gone. */
export interface Stream {
  text: AsyncIterable<string>;
  /** Its reader is gone. */
  close(): void;
  /** Aborted when its reader takes nothing any more. */
  stuck: AbortSignal;
}

/** The text of a long answer, piece by piece: whole lines, each of which ends with a line break. */
export type LineStream = AsyncIterable<string>;

/** What a handler answers. */
export type Answer<E extends Endpoint> =
  Property<E['response'], 'stream'> extends true
    ? { stream: Stream }
    : Property<E['response'], 'lines'> extends true
      ? { lines: LineStream }
      : Property<E, 'lines'> extends 'also'
        ? { lines: LineStream } | BodyAnswer<E>
        : BodyAnswer<E>;

interface BodyAnswer<E extends Endpoint> {
  body: Property<E['response'], 'body'> extends z.ZodType
    ? Property<E['response'], 'verbatim'> extends true
      ? WithVerbatim<z.input<Property<E['response'], 'body'>>>
      : z.input<Property<E['response'], 'body'>>
    : undefined;
  etag?: string;
  /** What was read, where the call alone does not tell: without it, the practice group and the ID that it names. */
  read?: readonly Read[];
  /** The Idempotency-Key was sent before: nothing was done, and this is the answer of the first call. */
  replayed?: true;
  /** An object that is never changed and says all of the body: its text is made once for as long as the object is there. */
  sameFor?: object;
}
