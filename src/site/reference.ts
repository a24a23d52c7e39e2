import type { Endpoint } from '../contract/endpoint.ts';
import { operatorEndpoints } from '../contract/operator/index.ts';
import { partnerEndpoints } from '../contract/partner/index.ts';
import { type Assets, assetsOf } from './assets.ts';
import { bar, contentsOf, head } from './frame.ts';
import { escapeHtml } from './html.ts';

/**
 * The pages on which every operation can be read and tried. They are drawn by Scalar in the browser, from the OpenAPI
 * document that this service serves; the calls go to this very service.
 */
export interface Reference {
  path: string;
  title: string;
  /** The OpenAPI document. */
  document: string;
  endpoints: readonly Endpoint[];
}

const STYLES = ['tokens.css', 'base.css', 'dialogs.css', 'contents.css', 'reference.css'];

export const references: readonly Reference[] = [
  {
    path: '/docs/api',
    title: 'Partner API',
    document: '/docs/openapi.json',
    endpoints: Object.values(partnerEndpoints),
  },
  {
    path: '/docs/operator-api',
    title: 'Operator API',
    document: '/docs/operator.openapi.json',
    endpoints: Object.values(operatorEndpoints),
  },
];

/** The address of an operation on its page. The script of the page tells Scalar to name them so. */
export function operationAddress(
  page: string,
  { tag, operationId }: { tag: string; operationId: string },
): string {
  return `${page}#tag/${tag.toLowerCase().replaceAll(' ', '-')}/${operationId}`;
}

/** Scalar's package hands out its script of 4 MB only as a route of a Fastify plugin: this stands in for the Fastify. */
export async function loadScalar(): Promise<Assets> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  let script: string | undefined;
  const reply = {
    header: () => reply,
    send: (body: string) => {
      script = body;
    },
  };
  const fastify = {
    route: ({ url, handler }: { url: string; handler: (request: unknown, answer: typeof reply) => void }) => {
      if (url.endsWith('.js')) handler(undefined, reply);
    },
  };
  plugin(fastify as never, { configuration: { url: '/' } } as never, () => {});
  if (script === undefined)
    throw new Error('@scalar/fastify-api-reference no longer has a route for its script.');
  return assetsOf([['scalar.js', Buffer.from(script)]]);
}

/** Where there is no room for Scalar's own contents, they stand above those of the site: one menu, not two. */
function operationsOf({ path, title, endpoints }: Reference): string {
  const tags = [...Map.groupBy(endpoints, ({ tag }) => tag)].map(([tag, tagged]) => {
    const links = tagged.map(
      (endpoint) =>
        `<li><a href="${operationAddress(path, endpoint)}">${escapeHtml(endpoint.summary)}</a></li>`,
    );
    return `<li><details><summary>${escapeHtml(tag)}</summary><ul>${links.join('')}</ul></details></li>`;
  });
  return `<h2>${escapeHtml(title)}</h2><ul>${tags.join('')}</ul>`;
}

export function referencePage(reference: Reference, assets: Assets, scalar: Assets): string {
  const { path, title, document } = reference;
  return `${head(title, assets.folder, STYLES)}
<link rel="preload" as="fetch" crossorigin="anonymous" href="${document}">
<script defer src="${scalar.folder}scalar.js"></script>
<script type="module" src="${assets.folder}reference.js"></script>
</head>
<body class="reference">
${bar(path)}
${contentsOf(path, operationsOf(reference))}
<div id="content" tabindex="-1">
<div id="reference" data-document="${document}"></div>
<noscript><main><h1>${title}</h1><p>This page needs a script to be drawn. The same is in <a href="${document}">the OpenAPI document</a>.</p></main></noscript>
</div>
</body>
</html>
`;
}
