import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../contract/problems.ts';
import { Outage } from '../platform/outage.ts';
import { JSON_TYPE, respond, safetyHeaders, send } from './exchange.ts';
import type { Observer } from './observe.ts';
import type { Route } from './routes.ts';

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

/** The documentation. Undefined: there is no such page. */
export type Site = (path: string, headers: IncomingHttpHeaders) => Promise<Page | undefined>;

interface Pages {
  probes: Probes;
  site: Site;
}

/** What needs no key: the probes of whoever runs the service, and its documentation. */
export function publicPages({ probes, site }: Pages, metrics: Observer['metrics']): Route[] {
  const probe = (path: string, type: string, read: () => string | Promise<string>): Route => ({
    method: 'GET',
    path,
    async handler(exchange) {
      exchange.trace.operation = path.slice(1);
      if (probes.exposed === 'loopback' && !exchange.transport.loopback) throw new Problem('not_found');
      respond(exchange, 200, await read(), type);
    },
  });
  const documentation = (path: string): Route => ({
    method: 'GET',
    path,
    async handler(exchange) {
      exchange.trace.operation = 'documentation';
      const page = await site(exchange.path, exchange.headers);
      if (!page) throw new Problem('not_found');
      // A page says for itself how long it may be kept.
      const safety = safetyHeaders(exchange.transport.secure);
      const headers = ['x-request-id', exchange.id, ...safety, ...Object.entries(page.headers).flat()];
      if (page.body) headers.push('content-length', String(page.body.length));
      send(exchange, page.status, headers, page.body);
    },
  });

  return [
    probe('/healthz', JSON_TYPE, () => '{"status":"ok"}'),
    probe('/readyz', JSON_TYPE, async () => {
      const ready = await probes.ready();
      if (typeof ready === 'string')
        throw new Problem('service_unavailable', { message: ready, retry_after: 1 });
      if (!ready) throw new Outage('not ready');
      return '{"status":"ready"}';
    }),
    probe('/metrics', metrics.contentType, () => metrics.text()),
    ...['/', '/docs', '/docs/*'].map(documentation),
  ];
}
