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
 * Why a call that brings the cookie is not taken for one of the console; undefined: it is. A page elsewhere cannot set the header without
 * asking first, and is never allowed to; where it calls from, the browser says itself. A link of the console, such as a page to print, sets no
 * header: it reads, and the browser vouches for where it stands.
 */
export function foreignCall(exchange: Exchange): string | undefined {
  const isLink = exchange.method === 'GET' && exchange.headers['sec-fetch-site'] === 'same-origin';
  if (!isLink && exchange.headers['x-porter-console'] !== '1')
    return 'A session counts only with the header x-porter-console: 1, which the console sends with each call.';
  return foreignOrigin(exchange);
}

export function foreignOrigin({ headers }: Exchange): string | undefined {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin') return undefined;
  return 'A session counts only for calls of the console itself, and the browser says that this one came from another page.';
}
