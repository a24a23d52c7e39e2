import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyRequest, type FastifyServerOptions } from 'fastify';
import type { Environment } from '../contract/access.ts';
import { Problem } from '../contract/problems.ts';
import type { App } from '../operations/app.ts';
import type { Logger } from '../platform/logger.ts';
import { mountEndpoints, mountNothing, readableAddress } from './mount.ts';
import { observe, type PoolNumbers } from './observe.ts';
import { mountPublicPages, type Probes } from './pages.ts';
import { invalidHttp, malformedRequest, refuse, validationBody } from './refuse.ts';
import { isAllowed, listOf, readTransport, type Transport } from './transport.ts';

export interface ServerOptions {
  app: App;
  log: Logger;
  environment: Environment;
  tls?: { certFile: string; keyFile: string } | undefined;
  trustProxy: readonly string[];
  probes: Probes;
  pool: PoolNumbers;
  /** False: only the probes and the public pages. */
  servesApi: boolean;
  /** Prometheus text of other parts of the service. */
  moreMetrics: () => Promise<string>;
  /** Where the pages about errors are served, without a slash at the end. */
  docsUrl: () => string;
  newRequestId: () => string;
  openApi: () => string;
  asyncApi: () => string;
  errorPage: (code: string) => string | undefined;
  errorIndexPage: () => string;
}

/** An ID ends up in logs and in the audit trail, so a key that was sent by mistake is not one. */
const WELL_FORMED_ID = /^(?!.*(?:ptr_|pto_|whsec_))[A-Za-z0-9._:-]{1,128}$/;
/** A whole request, headers and body, has to arrive within this time. */
const REQUEST_MS = 30_000;
const HEADERS_MS = 10_000;
const HEADERS_BYTES_MAX = 16 * 1024;

export function createServer(options: ServerOptions): FastifyInstance {
  const { app, log, environment, newRequestId } = options;
  const trusted = listOf(options.trustProxy);
  const tls = options.tls && {
    cert: readFileSync(options.tls.certFile),
    key: readFileSync(options.tls.keyFile),
  };

  const parser = {
    headersTimeout: HEADERS_MS,
    maxHeaderSize: HEADERS_BYTES_MAX,
    // Node would answer a missing Host by itself, without a body or a request ID: see `lacksHost`.
    requireHostHeader: false,
  };

  const server = Fastify({
    logger: false,
    ...(tls ? { https: { ...parser, ...tls, minVersion: 'TLSv1.2' } } : { http: parser }),
    requestTimeout: REQUEST_MS,
    // What is asked on an open connection while the service stops is still answered; the connection then closes.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    // Longer than any that fits into the headers: how long an ID may be is for the contract to say.
    routerOptions: { maxParamLength: HEADERS_BYTES_MAX },
    rewriteUrl: ({ url = '/' }) => readableAddress(url),
    genReqId: (request) => {
      const sent = request.headers['x-request-id'];
      return typeof sent === 'string' && WELL_FORMED_ID.test(sent) ? sent : newRequestId();
    },
    clientErrorHandler: (error, socket) => answerBrokenHttp(error, socket, newRequestId()),
    frameworkErrors: (_error, request, reply) => {
      begin(request, readTransport(request.raw, trusted));
      const context = { log, docsUrl: options.docsUrl(), refusals: app.refusals };
      refuse(malformedRequest('The address of the request cannot be read.'), request, reply, context);
    },
  } as FastifyServerOptions) as FastifyInstance;

  // Bodies are read by our own hand, at the right place in the order of checks: see body.ts.
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])
    server.addHttpMethod(method, { hasBody: false, overrideExisting: true });

  const { metrics, finish } = observe({ clock: app.clock, refusals: app.refusals, ...options });
  function begin(request: FastifyRequest, transport: Transport): void {
    request.transport = transport;
    request.trace = { startedAt: app.clock.monotonic(), operation: 'none', address: transport.address };
    request.outgoing = ['x-request-id', request.id, 'cache-control', 'no-store'];
    request.finish = finish;
  }

  for (const name of ['transport', 'trace', 'outgoing', 'finish']) server.decorateRequest(name);
  server.addHook('onRequest', (request, _reply, done) => {
    const transport = readTransport(request.raw, trusted);
    begin(request, transport);
    const barred = !isAllowed(transport, environment) && !isPublicPage(request.url);
    if (barred) done(new Problem('https_required'));
    else done(lacksHost(request.raw) ? malformedRequest('The Host header is missing.') : undefined);
  });
  // Node would answer an Expect header that it does not know by itself; a server may as well ignore it (RFC 9110).
  server.server.on('checkExpectation', (request, response) =>
    server.server.emit('request', request, response),
  );

  server.setErrorHandler((error, request, reply) => {
    refuse(error, request, reply, { log, docsUrl: options.docsUrl(), refusals: app.refusals });
  });
  mountPublicPages(server, options, metrics);
  if (options.servesApi) mountEndpoints(server, app);
  mountNothing(server, app, options.servesApi);
  return server;
}

declare module 'fastify' {
  interface FastifyRequest {
    transport: Transport;
  }
}

/** Probes decide for themselves whom they answer. */
function isPublicPage(url: string): boolean {
  return /^\/(healthz|readyz|metrics)(\?|$)/.test(url);
}

function lacksHost(request: IncomingMessage): boolean {
  return request.headers.host === undefined && request.httpVersion === '1.1';
}

/** What Node's parser cannot read as HTTP never becomes a request; it still gets an answer and a request ID. */
function answerBrokenHttp(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, reason, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ([431, 'Request Header Fields Too Large', 'The headers are too large.'] as const)
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ([408, 'Request Timeout', 'The request took too long to arrive.'] as const)
        : ([400, 'Bad Request', 'The request is not well-formed HTTP.'] as const);
  const body = validationBody([invalidHttp(message)], status);
  socket.end(
    [
      `HTTP/1.1 ${status} ${reason}`,
      `x-request-id: ${requestId}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}
