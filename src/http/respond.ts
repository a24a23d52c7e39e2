import type { Exchange } from './exchange.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Every answer leaves here. The headers that the steps on the way have gathered go out in one piece, and the request's
 * metrics and log line are written.
 */
export function respond(
  exchange: Exchange,
  status: number,
  body: string | undefined,
  type: string = JSON_TYPE,
): void {
  const { outgoing, response, desk } = exchange;
  if (body !== undefined)
    outgoing.push('content-type', type, 'content-length', String(Buffer.byteLength(body)));
  // Whoever asks again must ask somebody else: this connection closes when the service stops.
  if (desk.isClosing()) outgoing.push('connection', 'close');
  response.writeHead(status, outgoing);
  response.end(body);
  desk.finish(exchange, status);
}
