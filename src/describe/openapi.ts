import type { Endpoint } from '../contract/endpoint.ts';
import { operatorEndpoints } from '../contract/operator/index.ts';
import { partnerEndpoints } from '../contract/partner/index.ts';
import { namedKeyEndpoints, portalEndpoints } from '../contract/portal/index.ts';
import { practiceEndpoints } from '../contract/practice/index.ts';
import { type Audience, type Examples, partnerRequests, partnerResponses } from './examples/examples.ts';
import { operatorResponses } from './examples/operator-answers.ts';
import { operatorRequests } from './examples/operator-examples.ts';
import { portalRequests, portalResponses } from './examples/portal-examples.ts';
import { practiceRequests, practiceResponses } from './examples/practice-examples.ts';
import { markExtensions, type Node } from './extensions.ts';
import {
  operatorIntroduction,
  partnerIntroduction,
  portalIntroduction,
  practiceIntroduction,
} from './introductions.ts';
import { operationOf } from './operation.ts';
import type { Draft } from './responses.ts';
import { tagDescriptions } from './tags.ts';

/** The public addresses, without a slash at the end. */
export interface Servers {
  production: string;
  staging: string;
  /** The address at which the service that serves the document runs. A committed document has none. */
  running?: string;
}

/** Where partners turn to, as the documents name it: an e-mail address, or the address of a page. */
export const DEFAULT_SUPPORT = 'support@porter.example';

export const contactOf = (support: string): Node =>
  support.includes('://')
    ? { name: 'Porter support', url: support }
    : { name: 'Porter support', email: support };

export const defaultServers: Servers = {
  production: 'https://api.porter.example',
  staging: 'https://staging.api.porter.example',
};

interface Edition {
  audience: Audience;
  title: string;
  introduction: string;
  endpoints: Record<string, Endpoint>;
  requests: Record<string, Examples>;
  responses: Record<string, Examples>;
  securitySchemes: Record<string, Node>;
}

export function partnerDocument(servers: Servers = defaultServers, support = DEFAULT_SUPPORT): Node {
  return documentOf(
    {
      audience: 'partner',
      title: 'Porter partner API',
      introduction: partnerIntroduction,
      endpoints: partnerEndpoints,
      requests: partnerRequests,
      responses: partnerResponses,
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description:
            'The secret key. Staging and production have separate keys: `ptr_test_…` and `ptr_live_…`.',
        },
        PracticeGroupId: {
          type: 'apiKey',
          in: 'header',
          name: 'x-practice-group-id',
          description:
            "The practice group that the call acts for: the key's own, or one that shares a network with it.",
        },
      },
    },
    servers,
    support,
  );
}

export function operatorDocument(servers: Servers = defaultServers, support = DEFAULT_SUPPORT): Node {
  return documentOf(
    {
      audience: 'operator',
      title: 'Porter operator API',
      introduction: operatorIntroduction,
      endpoints: operatorEndpoints,
      requests: operatorRequests,
      responses: operatorResponses,
      securitySchemes: {
        OperatorToken: {
          type: 'http',
          scheme: 'bearer',
          description: "An operator's token; it carries one role.",
        },
      },
    },
    servers,
    support,
  );
}

const ConsoleSession = {
  type: 'apiKey',
  in: 'cookie',
  name: '__Host-porter-session',
  description: 'The session of somebody who entered the console by an invitation.',
};

/** What the console's pages for people of partners call. */
export function portalDocument(servers: Servers = defaultServers, support = DEFAULT_SUPPORT): Node {
  const open = Object.entries<Endpoint>(partnerEndpoints).filter(([, endpoint]) => endpoint.portal);
  return documentOf(
    {
      audience: 'portal',
      title: 'Porter portal API',
      introduction: portalIntroduction,
      endpoints: { ...portalEndpoints, ...namedKeyEndpoints, ...Object.fromEntries(open) },
      requests: { ...partnerRequests, ...portalRequests },
      responses: { ...partnerResponses, ...portalResponses },
      securitySchemes: { ConsoleSession },
    },
    servers,
    support,
  );
}

/** What the console's pages for practices call. */
export function practiceDocument(servers: Servers = defaultServers, support = DEFAULT_SUPPORT): Node {
  return documentOf(
    {
      audience: 'practice',
      title: 'Porter practice API',
      introduction: practiceIntroduction,
      endpoints: practiceEndpoints,
      requests: practiceRequests,
      responses: practiceResponses,
      securitySchemes: { ConsoleSession },
    },
    servers,
    support,
  );
}

function documentOf(edition: Edition, servers: Servers, support: string): Node {
  const draft: Draft = {
    audience: edition.audience,
    origin: servers.running ?? servers.production,
    schemas: new Map(),
    responses: new Map(),
    parameters: new Map(),
  };
  const paths = pathsOf(edition, draft);
  const document: Node = {
    openapi: '3.1.1',
    info: {
      title: edition.title,
      version: '1.0.0',
      description: edition.introduction,
      contact: contactOf(support),
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: serversOf(servers),
    tags: tagsOf(Object.values(edition.endpoints)),
    // One requirement that names several schemes asks for all of them at once.
    security: [Object.fromEntries(Object.keys(edition.securitySchemes).map((name) => [name, []]))],
    paths,
    components: {
      securitySchemes: edition.securitySchemes,
      parameters: inOrder(draft.parameters),
      responses: inOrder(draft.responses),
      schemas: inOrder(draft.schemas),
    },
  };
  markExtensions(document);
  return document;
}

/** Clients take the first one unless they are configured otherwise. */
function serversOf({ production, staging, running }: Servers): Node[] {
  const named = [
    { url: production, description: 'Production: real practices.' },
    { url: staging, description: 'Staging: made-up data only, for building and testing against.' },
  ];
  if (running === undefined) return named;
  const first = named.find(({ url }) => url === running) ?? { url: running, description: 'This service.' };
  return [first, ...named.filter((one) => one !== first)];
}

function pathsOf({ endpoints, requests, responses }: Edition, draft: Draft): Node {
  const byPath = Map.groupBy(Object.values(endpoints), (endpoint) => endpoint.path);
  return Object.fromEntries(
    [...byPath].map(([path, onPath]) => {
      const operations = onPath.map((endpoint) => {
        const { operationId, method } = endpoint;
        const examples = { request: requests[operationId], response: responses[operationId] };
        return [method.toLowerCase(), operationOf(endpoint, examples, draft)] as const;
      });
      return [path, { ...extensionIfAll(onPath), ...Object.fromEntries(operations) }];
    }),
  );
}

function tagsOf(endpoints: Endpoint[]): Node[] {
  return [...Map.groupBy(endpoints, (endpoint) => endpoint.tag)].map(([name, tagged]) => {
    const description = tagDescriptions[name];
    if (!description) throw new Error(`Describe the tag "${name}" in src/describe/tags.ts.`);
    return { name, description, ...extensionIfAll(tagged) };
  });
}

function extensionIfAll(endpoints: Endpoint[]): Node {
  return endpoints.every((endpoint) => endpoint.extension) ? { 'x-extension': true } : {};
}

/** Sorted by name, so that adding an operation moves nothing else in the committed file. */
function inOrder(components: Map<string, Node>): Node {
  return Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)));
}
