import type { IncomingHttpHeaders } from 'node:http';
import { PATH_UNKNOWN, Problem } from '../contract/problems.ts';
import { Outage } from '../platform/outage.ts';
import { type Exchange, JSON_TYPE, pageHeaders, respond, safetyHeaders, send } from './exchange.ts';
import type { Observer } from './observe.ts';
import type { Route } from './routes.ts';
import { namesAnotherHost } from './transport.ts';

export interface Probes {
  /** `loopback`: only for callers on this machine; `anywhere`: for every caller. */
  exposed: 'loopback' | 'anywhere';
  /** Whether the service can do its work at this moment; or why it cannot, in words for whoever runs it. */
  ready: () => Promise<boolean | string>;
}

interface Page {
  status: number;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

/** The documentation, or the console. Undefined: there is no such page. */
export type Site = (path: string, headers: IncomingHttpHeaders) => Promise<Page | undefined>;

/** A public key that verifies deliveries. */
interface WebhookKey {
  id: string;
  /** `whpk_` and base64. */
  public_key: string;
  created_at: string;
  expires_at: string | null;
}

interface Pages {
  webhookKeys: () => Promise<readonly WebhookKey[]>;
  probes: Probes;
  site: Site;
  console: Site;
}

/** What needs no key: the probes of whoever runs the service, its documentation, and what deliveries are verified with. */
export function publicPages(
  { probes, site, console, webhookKeys }: Pages,
  metrics: Observer['metrics'],
): Route[] {
  const probe = (path: string, type: string, read: () => string | Promise<string>): Route => ({
    method: 'GET',
    path,
    async handler(exchange) {
      exchange.trace.operation = path.slice(1);
      const isOwn = exchange.transport.loopback && !namesAnotherHost(exchange.headers.host);
      if (probes.exposed === 'loopback' && !isOwn) throw new Problem('not_found', { message: PATH_UNKNOWN });
      respond(exchange, 200, await read(), type);
    },
  });
  const pagesOf = (operation: string, from: Site) => (path: string) => ({
    method: 'GET',
    path,
    async handler(exchange: Exchange) {
      exchange.trace.operation = operation;
      const page = await from(exchange.path, exchange.headers);
      if (!page) throw new Problem('not_found', { message: PATH_UNKNOWN });
      // A page says for itself how long it may be kept.
      const safety = safetyHeaders(exchange.transport.secure);
      const headers = ['x-request-id', exchange.id, ...safety, ...Object.entries(page.headers).flat()];
      if (page.headers['content-type']?.startsWith('text/html')) headers.push(...pageHeaders);
      if (page.body) headers.push('content-length', String(page.body.length));
      send(exchange, page.status, headers, page.body);
    },
  });

  const wellKnown = (name: string, shown: (keys: readonly WebhookKey[]) => unknown): Route => ({
    method: 'GET',
    path: `/.well-known/${name}`,
    async handler(exchange) {
      exchange.trace.operation = name;
      respond(exchange, 200, JSON.stringify(shown(await webhookKeys())), JSON_TYPE);
    },
  });

  return [
    wellKnown('webhook-keys', (keys) => ({ keys })),
    wellKnown('jwks.json', (keys) => ({ keys: keys.map(asJwk) })),
    probe('/healthz', JSON_TYPE, () => '{"status":"ok"}'),
    probe('/readyz', JSON_TYPE, async () => {
      const ready = await probes.ready();
      if (typeof ready === 'string')
        throw new Problem('service_unavailable', { message: ready, retry_after: 1 });
      if (!ready) throw new Outage('not ready');
      return '{"status":"ready"}';
    }),
    probe('/metrics', metrics.contentType, () => metrics.text()),
    ...['/', '/docs', '/docs/*'].map(pagesOf('documentation', site)),
    ...['/console', '/console/*'].map(pagesOf('console', console)),
  ];
}

function asJwk({ id, public_key }: WebhookKey) {
  const x = Buffer.from(public_key.replace(/^whpk_/, ''), 'base64').toString('base64url');
  return { kty: 'OKP', crv: 'Ed25519', x, kid: id, use: 'sig', alg: 'EdDSA' };
}
