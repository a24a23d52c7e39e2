import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../contract/problems.ts';
import { Outage } from '../platform/outage.ts';
import type { Observer } from './observe.ts';

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

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

/** What needs no key: the probes of whoever runs the service, and the pages that errors point to. */
export function mountPublicPages(
  server: FastifyInstance,
  { probes, openApi, asyncApi, errorPage, errorIndexPage }: Pages,
  metrics: Observer['metrics'],
): void {
  const page = (
    url: string,
    operation: string,
    type: string,
    read: (request: FastifyRequest) => string | Promise<string>,
  ) =>
    server.get(url, async (request, reply) => {
      request.trace.operation = operation;
      const body = await read(request);
      for (let i = 0; i < request.outgoing.length; i += 2)
        reply.header(request.outgoing[i] ?? '', request.outgoing[i + 1]);
      request.finish(request, 200);
      return reply.header('content-type', type).send(body);
    });
  const guard = ({ transport }: FastifyRequest) => {
    if (probes.exposed === 'loopback' && !transport.loopback) throw new Problem('not_found');
  };

  page('/healthz', 'healthz', JSON_TYPE, (request) => {
    guard(request);
    return '{"status":"ok"}';
  });
  page('/readyz', 'readyz', JSON_TYPE, async (request) => {
    guard(request);
    if (!(await probes.ready())) throw new Outage('not ready');
    return '{"status":"ready"}';
  });
  page('/metrics', 'metrics', metrics.contentType, (request) => {
    guard(request);
    return metrics.text();
  });

  page('/docs/openapi.json', 'openApi', JSON_TYPE, () => openApi());
  page('/docs/asyncapi.json', 'asyncApi', JSON_TYPE, () => asyncApi());
  page('/docs/errors', 'errorIndexPage', HTML_TYPE, () => errorIndexPage());
  page('/docs/errors/:code', 'errorPage', HTML_TYPE, (request) => {
    const found = errorPage((request.params as { code: string }).code);
    if (found === undefined) throw new Problem('not_found');
    return found;
  });
}
