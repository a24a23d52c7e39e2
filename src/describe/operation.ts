import { roles, scopes } from '../contract/access.ts';
import { type Endpoint, IDEMPOTENCY_KEY, scopesFor, takesIdempotencyKey } from '../contract/endpoint.ts';
import { toReferencedSchema } from '../contract/json-schema.ts';
import { CURSOR } from '../contract/page.ts';
import { codeSamplesOf } from './code-samples.ts';
import type { Examples } from './examples/examples.ts';
import { nounOf, pathExampleOf } from './examples/path-examples.ts';
import { isNode, type Node } from './extensions.ts';
import { type Draft, json, LINES, responsesOf } from './responses.ts';

/** Optional headers carry no example: whoever tries a call out in the browser would send it without meaning to. */
const requestIdParameter: Node = {
  name: 'x-request-id',
  in: 'header',
  description:
    'An ID of your own for this call: up to 128 letters, digits and `. _ : -`. The answer repeats it, and support can find the call by it. One that is not of this form is replaced.',
  required: false,
  schema: { type: 'string' },
};

const ifMatchParameter: Node = {
  name: 'If-Match',
  in: 'header',
  description:
    'The ETag that you last saw, quotes included. If somebody else has changed the record since, the answer is 412.',
  required: false,
  // As in RFC 9110: a list, or any version.
  schema: { type: 'string', pattern: '^(\\*|(W/)?"[^"]*"( *, *(W/)?"[^"]*")*)$' },
};

const idempotencyKeyParameter: Node = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'A name of your own for this call. Send it again when the answer was lost: with the same key and the same body, the answer is the same and nothing is done twice. With another body, the answer is 409. Keys are kept for a day, those of published events for as long as the events.',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: IDEMPOTENCY_KEY.source },
};

const lastEventIdParameter: Node = {
  name: 'Last-Event-ID',
  in: 'header',
  description:
    'The `id` of the last event that you have seen: the stream goes on after it. Wins over `cursor`.',
  required: false,
  schema: { type: 'string', pattern: CURSOR.source },
};

export interface OperationExamples {
  request: Examples | undefined;
  response: Examples | undefined;
}

export function operationOf(endpoint: Endpoint, examples: OperationExamples, draft: Draft): Node {
  const parameters = parametersOf(endpoint, draft);
  return {
    operationId: endpoint.operationId,
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: [endpoint.description, accessSentence(endpoint)].filter(Boolean).join('\n\n'),
    ...accessMark(endpoint),
    ...('aboutItself' in endpoint.access && { security: [{ ApiKey: [] }] }),
    ...(endpoint.extension && { 'x-extension': true }),
    parameters,
    ...((endpoint.body || endpoint.lines) && {
      requestBody: {
        // No lines are a body, too: a comparison with nothing.
        required: !endpoint.bodyOptional && endpoint.lines !== 'only',
        content: {
          ...(endpoint.body &&
            json(
              toReferencedSchema(endpoint.body, { io: 'input', components: draft.schemas }),
              examples.request,
            )),
          ...(endpoint.lines && LINES),
        },
      },
    }),
    responses: responsesOf(endpoint, examples.response, draft),
    // The client libraries are for partners.
    ...(draft.audience === 'partner' && {
      'x-codeSamples': codeSamplesOf(endpoint, examples.request, parameters, draft.origin),
    }),
  };
}

function accessMark(endpoint: Endpoint): Node {
  const { access } = endpoint;
  if ('roles' in access) return { 'x-required-roles': { 'x-extension': true, any_of: [...access.roles] } };
  if ('guests' in access) return {};
  return { 'x-required-scopes': { 'x-extension': true, all_of: [...scopesFor(endpoint)] } };
}

function accessSentence({ access }: Endpoint): string {
  if ('aboutItself' in access)
    return 'Open to every key, whatever its scopes. It acts for no practice group: `x-practice-group-id` is not needed, and not looked at.';
  if ('anyKey' in access) return 'Open to every key, whatever its scopes.';
  if ('guests' in access) return `Open to people of a ${access.guests}, by the session of the console.`;
  if ('scope' in access) {
    const also = access.and ? ` And \`${access.and}\`: ${scopes[access.and]}` : '';
    return `Needs the scope \`${access.scope}\`: ${scopes[access.scope]}${also}`;
  }
  const allowed = (Object.keys(roles) as (keyof typeof roles)[]).filter((role) =>
    access.roles.includes(role),
  );
  return `Open to the ${allowed.length === 1 ? 'role' : 'roles'} ${allowed.map((role) => `\`${role}\``).join(', ')}.`;
}

function parametersOf(endpoint: Endpoint, draft: Draft): Node[] {
  return [
    ...fieldsOf(endpoint.params, draft).map(({ name, description, schema }) => ({
      name,
      in: 'path',
      required: true,
      ...describedAs(description ?? pathDescription(endpoint.path, name)),
      schema,
      ...shownAs(pathExampleOf(endpoint, name)),
    })),
    ...fieldsOf(endpoint.query, draft).map(({ name, required, description, schema }) => ({
      name,
      in: 'query',
      required,
      ...describedAs(description),
      // The specification names no query parameter. Inside an extension, everything is one anyway.
      ...(!endpoint.extension && { 'x-extension': true }),
      // Lists are sent as `a,b`.
      ...(schema.type === 'array' && { style: 'form', explode: false }),
      schema,
    })),
    ...(endpoint.conditional && endpoint.method !== 'GET'
      ? [shared(draft, 'IfMatch', ifMatchParameter)]
      : []),
    ...(takesIdempotencyKey(endpoint) ? [shared(draft, 'IdempotencyKey', idempotencyKeyParameter)] : []),
    ...(endpoint.response.stream ? [shared(draft, 'LastEventId', lastEventIdParameter)] : []),
    shared(draft, 'RequestId', requestIdParameter),
  ];
}

/** The only headers that the specification has callers send are the two of its security. */
function shared(draft: Draft, name: string, parameter: Node): Node {
  draft.parameters.set(name, { ...parameter, 'x-extension': true });
  return { $ref: `#/components/parameters/${name}` };
}

interface Field {
  name: string;
  required: boolean;
  description: string | undefined;
  schema: Node;
}

/** Parameters are described by their output: their input is always text, which would tell a reader nothing. */
function fieldsOf(object: Endpoint['params'], draft: Draft): Field[] {
  if (!object) return [];
  const { properties, required } = toReferencedSchema(object, { io: 'output', components: draft.schemas });
  return Object.entries(isNode(properties) ? properties : {}).map(([name, property]) => {
    const { description, 'x-extension': _hoisted, ...schema } = isNode(property) ? property : {};
    return {
      name,
      required: Array.isArray(required) && required.includes(name),
      description: typeof description === 'string' ? description : undefined,
      schema,
    };
  });
}

function pathDescription(path: string, name: string): string | undefined {
  return /(^|_)id$/.test(name) ? `The ID of the ${nounOf(path, name)}.` : undefined;
}

function shownAs(example: string | undefined): Node {
  return example === undefined ? {} : { example };
}

function describedAs(description: string | undefined): Node {
  return description ? { description } : {};
}
