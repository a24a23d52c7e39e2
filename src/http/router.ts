import findMyWay from 'find-my-way';
import type { Exchange } from './exchange.ts';

/** Answers a request. What it throws is refused as the contract says. */
export type Handler = (exchange: Exchange) => Promise<void>;

export interface Route {
  method: string;
  /** In OpenAPI's notation: `/v1/care-nav/submission-types/{id}`. */
  path: string;
  handler: Handler;
}

/** Longer than any that fits into the headers: how long an ID may be is for the contract to say. */
const PARAMETER_LENGTH_MAX = 16 * 1024;

/** Finds who answers, and leaves the parameters of the path with the request. A HEAD is a GET whose body is not sent. */
export function createRouter(routes: readonly Route[], otherwise: Handler): (exchange: Exchange) => Handler {
  const router = findMyWay({ maxParamLength: PARAMETER_LENGTH_MAX });
  for (const { method, path, handler } of routes) {
    const pattern = path.replaceAll(/\{(\w+)\}/g, ':$1');
    for (const name of method === 'GET' ? (['GET', 'HEAD'] as const) : [method as 'POST'])
      router.on(name, pattern, () => {}, handler);
  }
  return (exchange) => {
    const found = router.find(exchange.method as 'GET', exchange.url);
    if (!found) return otherwise;
    exchange.params = found.params;
    return found.store as Handler;
  };
}
