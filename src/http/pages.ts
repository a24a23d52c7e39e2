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

interface Pages {
  probes: Probes;
  /** The OpenAPI document of the partner API. */
  openApi: () => string;
  /** The AsyncAPI document of the webhook events. */
  asyncApi: () => string;
  errorPage: (code: string) => string | undefined;
  errorIndexPage: () => string;
}

const HTML_TYPE = 'text/html; charset=utf-8';

/** What needs no key: the probes of whoever runs the service, and the pages that errors point to. */
export function publicPages(
  { probes, openApi, asyncApi, errorPage, errorIndexPage }: Pages,
  metrics: Observer['metrics'],
): Route[] {
  const page = (
    path: string,
    operation: string,
    type: string,
    read: (exchange: Exchange) => string | Promise<string>,
  ): Route => ({
    method: 'GET',
    path,
    async handler(exchange) {
      exchange.trace.operation = operation;
      respond(exchange, 200, await read(exchange), type);
    },
  });
  const guard = ({ transport }: Exchange) => {
    if (probes.exposed === 'loopback' && !transport.loopback) throw new Problem('not_found');
  };

  return [
    page('/healthz', 'healthz', JSON_TYPE, (exchange) => {
      guard(exchange);
      return '{"status":"ok"}';
    }),
    page('/readyz', 'readyz', JSON_TYPE, async (exchange) => {
      guard(exchange);
      if (!(await probes.ready())) throw new Outage('not ready');
      return '{"status":"ready"}';
    }),
    page('/metrics', 'metrics', metrics.contentType, (exchange) => {
      guard(exchange);
      return metrics.text();
    }),
    page('/docs/openapi.json', 'openApi', JSON_TYPE, () => openApi()),
    page('/docs/asyncapi.json', 'asyncApi', JSON_TYPE, () => asyncApi()),
    page('/docs/errors', 'errorIndexPage', HTML_TYPE, () => errorIndexPage()),
    page('/docs/errors/{code}', 'errorPage', HTML_TYPE, ({ params }) => {
      const found = errorPage((params as { code: string }).code);
      if (found === undefined) throw new Problem('not_found');
      return found;
    }),
  ];
}
