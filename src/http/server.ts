import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Environment } from '../contract/access.ts';
import { Problem, unreadable } from '../contract/problems.ts';
import { listOf } from '../domain/access/address-list.ts';
import type { App } from '../operations/app.ts';
import type { Logger } from '../platform/logger.ts';
import type { Telemetry } from '../platform/telemetry.ts';
import { readableAddress } from './address.ts';
import { type CertificateSource, fingerprints } from './client-certificate.ts';
import { type ConnectionLimits, Connections, connectionOf } from './connections.ts';
import { consoleRoutes } from './console.ts';
import { Exchange, respond, safetyHeaders } from './exchange.ts';
import { observe, type PoolNumbers } from './observe.ts';
import { type Probes, publicPages, type Site } from './pages.ts';
import { createProver } from './prove.ts';
import { invalidHttp, malformedRequest, refuse, validationBody } from './refuse.ts';
import { createRouter, endpointRoutes, nothingThere } from './routes.ts';
import { serverTls, type Tls } from './tls.ts';
import { addressKey, isAllowed, plainAddress, readTransport } from './transport.ts';

export interface ServerOptions {
  app: App;
  log: Logger;
  environment: Environment;
  tls: Tls | undefined;
  trustProxy: readonly string[];
  clientCertificates: CertificateSource;
  /** The address by which partners call it. */
  ownUrl: () => string;
  connections: ConnectionLimits;
  probes: Probes;
  pool: PoolNumbers;
  /** The public keys that verify deliveries. */
  webhookKeys: () => Promise<
    readonly { id: string; public_key: string; created_at: string; expires_at: string | null }[]
  >;
  /** False: only the probes and the public pages. */
  servesApi: boolean;
  /** Of several processes: told those of this one, returns those of all. */
  shareMetrics?: ((own: () => Promise<string>) => () => Promise<string>) | undefined;
  /** Prometheus text of other parts of this process. */
  moreMetrics: () => Promise<string>;
  /** Prometheus text about the whole service, which any process can report. */
  serviceMetrics: () => Promise<string>;
  /** Where the pages about errors are served, without a slash at the end. */
  docsUrl: () => string;
  site: Site;
  telemetry: Telemetry | undefined;
  /** The files of the console. */
  console: Site;
}

/** An ID ends up in logs and in the audit trail, so a key that was sent by mistake is not one. */
const WELL_FORMED_ID = /^(?!.*(?:ptr_|pto_|pts_|pti_|whsec_))[A-Za-z0-9._:-]{1,128}$/;
/** A whole request, headers and body, has to arrive within this time. */
const REQUEST_MS = 30_000;
/** So long nothing may come of a body that goes on, and nothing of its answer be taken. */
const STANDSTILL_MS = 60_000;
const HEADERS_MS = 10_000;
/** Before anything of HTTP, so long TLS may take. */
const HANDSHAKE_MS = 10_000;
const HEADERS_BYTES_MAX = 16 * 1024;
const HEADERS_MAX = 1_000;
/** Longer than the idle time of the usual proxies, so that it is they who close a connection, not we under them. */
const KEEP_ALIVE_MS = 72_000;
/** So long whoever sent broken HTTP may take to read that it was, and to close. */
const LINGER_MS = 1_000;

/**
 * Requests that a connection may send ahead of their answers. Each is kept until it is answered, and whoever does not read
 * is not: one packet of 64 KiB took 10 MB for as long as the connection lasted, from anybody. Proxies send none ahead.
 */
const AHEAD_MAX = 100;

/**
 * HTTP by Node itself. A framework's reading, hooks and sending would have to be passed by, because of the order of checks
 * and of what they cost; what would be left of it is the routing, which is a library of its own.
 */
export function createServer(options: ServerOptions): Server {
  const { app, log, environment } = options;
  const newRequestId = requestIds(app.random);
  const trusted = listOf(options.trustProxy);
  const connections = new Connections(options.connections, trusted);
  const { metrics, finish } = observe({
    ...options,
    clock: app.clock,
    refusals: app.refusals,
    accessLog: app.accessLog,
    usage: app.usage,
    streams: app.streams,
    strangers: app.strangers,
    connections,
  });
  const withService = (own: () => Promise<string>) => async () =>
    (await Promise.all([own(), options.serviceMetrics()])).join('');
  options.telemetry?.sendMetrics(withService(metrics.text));
  const text = withService(options.shareMetrics?.(metrics.text) ?? metrics.text);
  const routes = publicPages(options, { ...metrics, text });
  if (options.servesApi) routes.push(...endpointRoutes(app), ...consoleRoutes(app, options));
  const find = createRouter(routes, nothingThere(app, options.servesApi));
  const fingerprintOf = fingerprints(options.clientCertificates, trusted);
  const prove = createProver({ clock: app.clock, fingerprintOf, ownUrl: options.ownUrl });
  const desk = {
    finish(exchange: Exchange, status: number) {
      const { keyId, operatorId, guest } = exchange.trace;
      if (keyId !== undefined || operatorId !== undefined || guest) connections.know(exchange.raw.socket);
      finish(exchange, status);
    },
    isClosing: () => !server.listening,
    liftTimeout({ raw, response }: Exchange) {
      const { socket } = raw;
      const known = connectionOf(socket);
      known.isGoingOn = true;
      // Node ends it when the time is over, and sets its own time when the answer is.
      socket.setTimeout(STANDSTILL_MS);
      response.once('close', () => {
        known.isGoingOn = false;
      });
    },
    prove,
    ownUrl: options.ownUrl,
  };

  function isTooFarAhead(socket: Socket, next: ServerResponse): boolean {
    const known = connectionOf(socket);
    const { last, unread } = known;
    known.last = next;
    // They are taken in their order: when the last one was, all were.
    if (!last || last.writableFinished) {
      if (unread.length > 0) known.unread = [];
      return false;
    }
    known.unread = [...unread, last].filter((one) => !one.writableFinished);
    return known.unread.length >= AHEAD_MAX;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Whatever follows on a broken connection is broken too.
    if (connectionOf(request.socket).isBroken) return;
    if (isTooFarAhead(request.socket, response)) {
      request.socket.destroy();
      return;
    }
    const sent = request.headers['x-request-id'];
    const isId = typeof sent === 'string' && WELL_FORMED_ID.test(sent) && !isCredential(request, sent);
    const id = isId ? sent : newRequestId();
    const transport = readTransport(request, trusted);
    const url = readableAddress(request.url ?? '/');
    const exchange = new Exchange(request, response, id, url, transport, app.clock.monotonic(), desk);
    if (options.telemetry) {
      const { traceparent } = request.headers;
      exchange.span = options.telemetry.request(
        app.clock.now(),
        typeof traceparent === 'string' ? traceparent : undefined,
      );
    }
    try {
      if (!isAllowed(transport, environment) && !isProbe(url)) throw new Problem('https_required');
      const wrong = hostFault(request);
      if (wrong) throw malformedRequest(wrong);
      const unclear = framingFault(request);
      const isTooMuch = request.rawHeaders.length > 2 * HEADERS_MAX;
      if (unclear || isTooMuch) {
        connectionOf(request.socket).isBroken = true;
        exchange.outgoing.push('connection', 'close');
      }
      if (isTooMuch) return respond(exchange, 431, validationBody([invalidHttp(unreadable[431])], 431));
      if (unclear) throw malformedRequest(unclear);
      await find(exchange)(exchange);
    } catch (error) {
      fail(error, exchange);
    }
  }

  function fail(error: unknown, exchange: Exchange): void {
    const { response } = exchange;
    try {
      if (response.headersSent) throw error;
      refuse(error, exchange, { log, docsUrl: options.docsUrl(), refusals: app.refusals });
    } catch (mistake) {
      // Nothing is left to be answered, and a mistake here must not be the end of everybody else's requests.
      log.error({ request_id: exchange.id, err: mistake }, 'bug after the answer');
      if (!response.writableEnded) response.destroy();
    }
  }

  const parser = {
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADERS_BYTES_MAX,
    // Node would answer a missing Host by itself, without a body or a request ID: see `hostFault`.
    requireHostHeader: false,
    // A request without a body is no stream that begins and ends: 5 to 9 % of a GET. (An older Node passes over it.)
    optimizeEmptyRequests: true,
    // How often Node looks whose time is over; twice a minute, a limit of ten seconds would be forty.
    connectionsCheckingInterval: 2_000,
  };
  const server = options.tls
    ? createHttpsServer({
        ...parser,
        ...serverTls(options.tls),
        handshakeTimeout: HANDSHAKE_MS,
        // Asked for, and judged with the key that comes with the call: most keys need none.
        requestCert: options.clientCertificates === 'tls',
        rejectUnauthorized: false,
      })
    : createHttpServer(parser);
  // Beyond a limit, some versions of Node silently drop headers, which a proxy may have appended. `answer` counts them instead.
  server.maxHeadersCount = 0;
  connections.guard(server);
  // Nobody is there to be answered before there is TLS. (Node would take it for broken HTTP.)
  if (options.tls)
    server.removeAllListeners('tlsClientError').on('tlsClientError', (_error, socket: Socket) => {
      socket.destroy();
    });
  server.on('request', answer);
  // Node would answer an Expect header that it does not know by itself; a server may as well ignore it (RFC 9110).
  server.on('checkExpectation', answer);
  server.on('clientError', (error, stream) => {
    const socket = stream as Socket;
    const known = connectionOf(socket);
    if (known.isGoingOn && (error as { code?: string }).code === 'ERR_HTTP_REQUEST_TIMEOUT') return;
    // It is told once.
    if (known.isBroken) return;
    known.isBroken = true;
    const tell = () => answerBrokenHttp(error, socket, newRequestId(), app, log);
    // What is broken may stand behind a whole request. That has its answer first: it may have changed something.
    const { last } = known;
    if (last?.req.complete && !last.writableFinished) last.once('close', tell);
    else tell();
  });
  return server;
}

/** A request ID is logged and kept. A credential that was sent in both headers is not. */
function isCredential({ headers }: IncomingMessage, sent: string): boolean {
  return headers['x-api-key'] === sent || headers.authorization?.endsWith(sent) === true;
}

function safetyLines(socket: Socket): string[] {
  const headers = safetyHeaders('encrypted' in socket && socket.encrypted === true);
  return headers.flatMap((name, at) => (at % 2 === 0 ? `${name}: ${headers[at + 1]}` : []));
}

/** Unique across nodes and restarts by a random start, cheap by counting on from there; all of one length, so that answers are too. */
function requestIds(random: App['random']): () => string {
  const node = Buffer.from(random(9)).toString('base64url');
  let count = 0;
  return () => `req_${node}${(count++).toString(36).padStart(6, '0')}`;
}

/** Probes decide for themselves whom they answer. */
function isProbe(url: string): boolean {
  return /^\/(healthz|readyz|metrics)(\?|$)/.test(url);
}

/** Node takes the first of several; a proxy in front may have gone by another. */
function hostFault({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') hosts++;
  if (hosts > 1) return 'There is more than one Host header.';
  return hosts === 0 && httpVersion === '1.1' ? 'The Host header is missing.' : undefined;
}

/**
 * Where a request ends must be plain to everybody on its way: a proxy that reads it otherwise would take part of one caller's request
 * for another's. HTTP/1.0 knows no chunks (RFC 9112, 6.1), and no other coding is understood here.
 */
function framingFault({ headers, httpVersion }: IncomingMessage): string | undefined {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return undefined;
  if (httpVersion !== '1.1')
    return 'HTTP/1.0 has no Transfer-Encoding: send a Content-Length, or use HTTP/1.1.';
  return coding.toLowerCase() === 'chunked' ? undefined : 'The only Transfer-Encoding understood is chunked.';
}

/** What Node's parser cannot read as HTTP never becomes a request; it still gets an answer and a request ID. */
function answerBrokenHttp(
  error: Error & { code?: string },
  socket: Socket,
  requestId: string,
  { clock, strangers }: Pick<App, 'clock' | 'strangers'>,
  log: Logger,
): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const [status, reason, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ([431, 'Request Header Fields Too Large', unreadable[431]] as const)
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ([408, 'Request Timeout', unreadable[408]] as const)
        : ([400, 'Bad Request', 'The request is not well-formed HTTP.'] as const);
  if (strangers.mayLog(addressKey(plainAddress(socket.remoteAddress ?? ''))))
    log.info({ request_id: requestId, status, reason: error.code }, 'not HTTP');
  const body = validationBody([invalidHttp(message)], status);
  socket.end(
    [
      `HTTP/1.1 ${status} ${reason}`,
      `x-request-id: ${requestId}`,
      ...safetyLines(socket),
      'cache-control: no-store',
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
  // One that does not close would stay for ever: for Node, which has given it up, no time limit holds any more.
  clock.timer(LINGER_MS, () => socket.destroy());
}
