import { readFile } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { defaultWebhookServers, webhookDocument } from '../describe/asyncapi.ts';
import { errorEntries } from '../describe/error-catalogue.ts';
import { stripExtensions } from '../describe/extensions.ts';
import {
  DEFAULT_SUPPORT,
  defaultServers,
  operatorDocument,
  partnerDocument,
  type Servers,
} from '../describe/openapi.ts';
import { type Assets, loadAssets } from './assets.ts';
import { type Entry, entries } from './contents.ts';
import { errorIndexPage, errorPage } from './error-pages.ts';
import { pageOf } from './frame.ts';
import type { Article } from './html.ts';
import type { Page } from './markdown.ts';
import { loadScalar, type Reference, referencePage, references } from './reference.ts';
import { type Reply, type Resource, replyWith, resource } from './resource.ts';

/** What this deployment says of itself. */
interface Deployment {
  baseUrls: Servers;
  webhookUrls: Servers;
  supportContact: string;
  webhookSenders: readonly string[];
}

/** Answers a GET below /docs. Undefined: there is nothing there, and whoever asks is not a browser. */
type Site = (path: string, headers: IncomingHttpHeaders) => Promise<Reply | undefined>;

const DOCS = new URL('../../docs/', import.meta.url);
const HTML_TYPE = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const NOBODY_ELSE =
  "default-src 'none'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const PAGE_POLICY = `${NOBODY_ELSE}; style-src 'self'; img-src 'self'`;
/** Scalar writes its own style into the page. */
const REFERENCE_POLICY = `${NOBODY_ELSE}; style-src 'self' 'unsafe-inline'; img-src 'self'`;

/**
 * Everything is made when it is first asked for and then kept: the service starts as fast as without the site, and reads the
 * libraries that draw it only if somebody reads the site. The addresses are known beforehand, so nothing that a caller
 * sends becomes the name of a file or part of a page.
 */
export function createSite(deployment: Deployment, ownUrl: () => string): Site {
  const { baseUrls, webhookUrls, supportContact } = deployment;
  const servers = (): Servers => ({ ...baseUrls, running: ownUrl() });
  const partner = () => partnerDocument(servers(), supportContact);
  const webhooks = () => webhookDocument(webhookUrls, supportContact);
  const assets = once(loadAssets);
  const scalar = once(loadScalar);

  const page = (path: string, article: () => Made<Article>): [string, () => Made<Resource>] => [
    path,
    async () => html(path, await article(), await assets()),
  ];
  const things: [path: string, make: () => Made<Resource>][] = [
    ['/docs/openapi.json', () => json(partner())],
    ['/docs/operator.openapi.json', () => json(operatorDocument(servers(), supportContact))],
    ['/docs/asyncapi.json', () => json(webhooks())],
    ['/docs/specified/openapi.json', () => json(stripExtensions(partner()))],
    ['/docs/specified/asyncapi.json', () => json(stripExtensions(webhooks()))],
    ['/docs/search.json', async () => json(await searchIndex(deployment))],
    ...entries
      .filter(({ source }) => source)
      .map((entry) => page(entry.path, () => render(entry, deployment))),
    page('/docs/errors', errorIndexPage),
    ...errorEntries().map(({ code }) => page(`/docs/errors/${code}`, () => errorPage(code, supportContact))),
    ...references.map((one): (typeof things)[number] => [
      one.path,
      async () => reference(one, await assets(), await scalar()),
    ]),
  ];
  const nothing = once(async () => html('', NOTHING, await assets(), 404));
  const makers = new Map(things.map(([path, make]) => [path, once(async () => make())]));

  async function find(path: string): Promise<Resource | undefined> {
    if (path.startsWith('/docs/assets/'))
      return (await (path.endsWith('/scalar.js') ? scalar() : assets())).find(path);
    const plain = path.replace(/\/$/, '');
    if (path !== plain && (plain === '' || makers.has(plain))) return redirect(plain || '/docs');
    return makers.get(path)?.();
  }

  return async (path, headers) => {
    const isBrowser = headers.accept?.includes('text/html');
    const found = (await find(path)) ?? (isBrowser ? await nothing() : undefined);
    return found && replyWith(found, headers);
  };
}

type Made<T> = T | undefined | Promise<T | undefined>;

const NOTHING: Article = {
  title: 'Not found',
  html: `<h1>There is nothing here</h1>
<p>The page may have moved. Look for it in the contents, or search.</p>
<form class="lookup" role="search"><label>What are you looking for? <input type="search" name="query" autocomplete="off"></label><button type="submit">Search</button></form>
<p><a href="/docs">Go to the start</a></p>`,
  headings: [],
};

/** Remembers what was made; what failed is tried again the next time. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Undefined: a deployment that leaves docs/ out still has the pages that are made from the contract. */
async function render({ source }: Entry, deployment: Deployment): Promise<Page | undefined> {
  if (!source) return undefined;
  const text = await readFile(new URL(source, DOCS), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const { renderMarkdown } = await import('./markdown.ts');
  return text === undefined ? undefined : renderMarkdown(asDeployed(text, source, deployment), source);
}

/** Pages name example addresses. Partners read those of this deployment; the operator's manual is about the settings themselves. */
function asDeployed(text: string, source: string, deployment: Deployment): string {
  if (source.startsWith('operating/')) return text;
  const { baseUrls, webhookUrls, supportContact, webhookSenders } = deployment;
  const senders = webhookSenders.map((address) => `\`${address}\``).join(', ');
  const own: [example: string, configured: string][] = [
    [defaultServers.production, baseUrls.production],
    [defaultServers.staging, baseUrls.staging],
    [defaultWebhookServers.production, webhookUrls.production],
    [defaultWebhookServers.staging, webhookUrls.staging],
    [DEFAULT_SUPPORT, supportContact],
    [NO_SENDERS, senders || NO_SENDERS],
  ];
  return own.reduce((page, [example, configured]) => page.replaceAll(example, () => configured), text);
}

/** Where the addresses that webhooks are sent from are not set. */
const NO_SENDERS = 'any address: none is promised';

async function searchIndex(deployment: Deployment): Promise<unknown> {
  const { findings } = await import('./search-index.ts');
  const pages = await Promise.all(
    entries.map(async (entry) => ({ entry, page: await render(entry, deployment) })),
  );
  return findings(pages.flatMap(({ entry, page }) => (page ? [{ entry, page }] : [])));
}

function html(
  path: string,
  article: Article | undefined,
  assets: Assets,
  status = 200,
): Resource | undefined {
  if (!article) return undefined;
  const body = pageOf({ path, article, assets: assets.folder });
  return resource(body, { 'content-type': HTML_TYPE, 'content-security-policy': PAGE_POLICY }, status);
}

function reference(one: Reference, assets: Assets, scalar: Assets): Resource {
  const body = referencePage(one, assets, scalar);
  return resource(body, { 'content-type': HTML_TYPE, 'content-security-policy': REFERENCE_POLICY });
}

function json(value: unknown): Resource {
  return resource(JSON.stringify(value), { 'content-type': JSON_TYPE });
}

function redirect(location: string): Resource {
  return resource('', { location }, 302);
}
