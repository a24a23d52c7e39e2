import type { Exchange } from './exchange.ts';

/**
 * The cookie of the console. Scripts cannot read it, and no browser sends it with what another site asks for (SameSite). Over HTTPS its
 * name begins with `__Host-`, which browsers take from this very host alone, and never over plain HTTP.
 */
const NAME = 'porter-session';

const nameOf = ({ transport }: Exchange, name: string) => (transport.secure ? `__Host-${name}` : name);

/** The session's token, if there is one. */
export function sessionToken(exchange: Exchange): string | undefined {
  return readCookie(exchange, NAME);
}

export function keepSession(exchange: Exchange, token: string, seconds: number): void {
  setCookie(exchange, NAME, token, { sameSite: 'Strict', seconds });
}

export function dropSession(exchange: Exchange): void {
  setCookie(exchange, NAME, '', { sameSite: 'Strict', seconds: 0 });
}

export function readCookie(exchange: Exchange, name: string): string | undefined {
  const wanted = `${nameOf(exchange, name)}=`;
  const found = exchange.headers.cookie?.split(/; */).find((pair) => pair.startsWith(wanted));
  return found?.slice(wanted.length) || undefined;
}

export function setCookie(
  exchange: Exchange,
  name: string,
  value: string,
  { sameSite, seconds }: { sameSite: 'Strict' | 'Lax'; seconds: number },
): void {
  const parts = [
    `${nameOf(exchange, name)}=${value}`,
    'Path=/',
    `Max-Age=${Math.max(0, Math.floor(seconds))}`,
    'HttpOnly',
    `SameSite=${sameSite}`,
    ...(exchange.transport.secure ? ['Secure'] : []),
  ];
  exchange.outgoing.push('set-cookie', parts.join('; '));
}

/**
 * Returns why the service does not accept the session of a request, or undefined when it does. A page of another site cannot set the
 * header x-porter-console without a preflight request, which the service never allows. A link of the console, such as a page to print,
 * sets no header: it only reads, and the browser states where it stands.
 */
export function foreignCall(exchange: Exchange): string | undefined {
  const isLink = exchange.method === 'GET' && exchange.headers['sec-fetch-site'] === 'same-origin';
  if (!isLink && exchange.headers['x-porter-console'] !== '1')
    return 'A session counts only with the header x-porter-console: 1, which the console sends with each call.';
  return foreignOrigin(exchange) ?? unknownOrigin(exchange);
}

/** Returns why the headers of the request name a page of another origin, or undefined. */
export function foreignOrigin({ headers, transport, desk }: Exchange): string | undefined {
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin') return OTHER_PAGE;
  if (origin === undefined) return undefined;
  // A proxy may replace the Host header, so the configured URL counts as well.
  const own = [`${transport.secure ? 'https' : 'http'}://${host}`, URL.parse(desk.ownUrl())?.origin];
  return own.includes(origin) ? undefined : OTHER_PAGE;
}

/**
 * Browsers state the origin of every request that may change something. Without both headers, the sender is a program, which has a token
 * to use, or the headers were removed on the way. Then no check of the origin is possible, and the request is refused.
 */
export function unknownOrigin({ method, headers }: Exchange): string | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined;
  return (headers.origin ?? headers['sec-fetch-site']) ? undefined : NO_ORIGIN;
}

const OTHER_PAGE =
  'A session counts only for requests of the console itself, and the browser states that this one came from another page.';
const NO_ORIGIN =
  'A session changes something only with the header Origin or Sec-Fetch-Site, which browsers send. For a program, use an operator token.';
