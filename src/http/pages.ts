import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { Problem } from '../contract/problems.ts';

export interface Probes {
  /** `loopback`: only for callers on this machine; `anywhere`: for every caller. */
  exposed: 'loopback' | 'anywhere';
  /** Whether the service can do its work at this moment. */
  ready: () => Promise<boolean>;
}

interface Pages {
  probes: Probes;
  errorPage: (code: string) => string | undefined;
  errorIndexPage: () => string;
}

/** What needs no key: the probes of whoever runs the service, and the pages that errors point to. */
export function mountPublicPages(
  server: FastifyInstance,
  { probes, errorPage, errorIndexPage }: Pages,
  registry: Registry,
): void {
  const guard = (request: FastifyRequest, operation: string) => {
    request.trace.operation = operation;
    if (probes.exposed === 'loopback' && !request.transport.loopback) throw new Problem('not_found');
  };

  server.get('/healthz', async (request) => {
    guard(request, 'healthz');
    return { status: 'ok' };
  });
  server.get('/readyz', async (request) => {
    guard(request, 'readyz');
    if (!(await probes.ready())) throw new Problem('service_unavailable', { retry_after: 1 });
    return { status: 'ready' };
  });
  server.get('/metrics', async (request, reply) => {
    guard(request, 'metrics');
    reply.header('content-type', registry.contentType);
    return registry.metrics();
  });

  server.get('/docs/errors', async (request, reply) => {
    request.trace.operation = 'errorIndexPage';
    return reply.header('content-type', 'text/html; charset=utf-8').send(errorIndexPage());
  });
  server.get<{ Params: { code: string } }>('/docs/errors/:code', async (request, reply) => {
    request.trace.operation = 'errorPage';
    const page = errorPage(request.params.code);
    if (page === undefined) throw new Problem('not_found');
    return reply.header('content-type', 'text/html; charset=utf-8').send(page);
  });
}
