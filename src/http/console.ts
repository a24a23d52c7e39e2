import { signInBody } from '../contract/console.ts';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { check } from '../contract/validate.ts';
import { hasExpired } from '../domain/access.ts';
import type { OperatorPrincipal } from '../domain/principal.ts';
import type { App } from '../operations/app.ts';
import { beginSession, endSession } from '../operations/sessions.ts';
import { countOperator, findSession, mayAsk, refuseStranger } from './admit.ts';
import { type Exchange, parseJson, readBody, respond } from './exchange.ts';
import type { Handler, Route } from './routes.ts';
import { dropSession, foreignOrigin, keepSession } from './session-cookie.ts';

/** How people come into the console and leave it: their answers are cookies. Everything else, the console asks of the API. */
export function consoleRoutes(app: App): Route[] {
  const route = (method: string, path: string, handler: Handler): Route => ({
    method,
    path: `/console/${path}`,
    async handler(exchange) {
      exchange.trace.operation = `console ${path}`;
      const foreign = foreignOrigin(exchange);
      if (foreign !== undefined) throw new Problem('invalid_credentials', { message: foreign });
      await handler(exchange);
    },
  });
  return [
    route('POST', 'sign-in', (exchange) => signIn(app, exchange)),
    route('POST', 'sign-out', (exchange) => signOut(app, exchange)),
  ];
}

/** Of a body that anybody may send. */
const BODY_BYTES_MAX = 4 * 1024;

async function signIn(app: App, exchange: Exchange): Promise<void> {
  const { value, problems } = parseJson(exchange.raw, await readBody(exchange.raw, BODY_BYTES_MAX));
  const body = check(signInBody, value);
  if (!body.ok || problems.length > 0)
    throw new ValidationProblem(body.ok ? problems : [...problems, ...body.problems]);
  const operator = await app.access.operatorOf(body.value.token, () => mayAsk(app, exchange));
  if (!operator || hasExpired(operator, app.clock.now()))
    return refuseStranger(app, exchange, new Problem('invalid_credentials', { message: WRONG_TOKEN }));
  countOperator(app, exchange, operator);
  await letIn(app, exchange, operator);
  respond(exchange, 204, undefined);
}

const WRONG_TOKEN =
  'This token is not one that works. Check that it was copied whole, or ask an admin for another one.';

async function letIn(app: App, exchange: Exchange, principal: OperatorPrincipal): Promise<void> {
  exchange.trace.operatorId = principal.operatorId;
  const former = await findSession(app, exchange);
  const { token, seconds } = await beginSession(app, {
    principal,
    address: exchange.transport.address,
    userAgent: exchange.headers['user-agent'],
    requestId: exchange.id,
    formerSessionId: former?.principal.sessionId,
  });
  keepSession(exchange, token, seconds);
}

/** Whoever is signed in no more is signed out as well. */
async function signOut(app: App, exchange: Exchange): Promise<void> {
  const found = await findSession(app, exchange);
  if (found) {
    exchange.trace.operatorId = found.principal.operatorId;
    await endSession(app, { principal: found.principal, requestId: exchange.id });
  }
  dropSession(exchange);
  respond(exchange, 204, undefined);
}
