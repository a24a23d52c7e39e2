import type { IncomingHttpHeaders } from 'node:http';
import { Problem } from '../contract/problems.ts';
import { Outage } from '../platform/outage.ts';
import type { Exchange } from './exchange.ts';
import type { Observer } from './observe.ts';
import { JSON_TYPE, respond } from './respond.ts';
import type { Route } from './router.ts';

export interface Probes {
  /** `loopback`: only for callers on this machine; `anywhere`: for every caller. */
  exposed: 'loopback' | 'anywhere';
  /** Whether the service can do its work at this moment. */
  ready: () => Promise<boolean>;
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
      send(exchange, page);
    },
  });

  return [
    probe('/healthz', JSON_TYPE, () => '{"status":"ok"}'),
    probe('/readyz', JSON_TYPE, async () => {
      if (!(await probes.ready())) throw new Outage('not ready');
      return '{"status":"ready"}';
    }),
    probe('/metrics', metrics.contentType, () => metrics.text()),
    ...['/', '/docs', '/docs/*'].map(documentation),
  ];
}

/** What `respond` does for an answer of the API. A page is bytes, and says for itself how long it may be kept. */
function send(exchange: Exchange, { status, headers, body }: Page): void {
  const { id, response, desk } = exchange;
  const outgoing = ['x-request-id', id, ...Object.entries(headers).flat()];
  if (body) outgoing.push('content-length', String(body.length));
  if (desk.isClosing()) outgoing.push('connection', 'close');
  response.writeHead(status, outgoing);
  response.end(body);
  desk.finish(exchange, status);
}
