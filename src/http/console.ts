import { tokenBody } from '../contract/console.ts';
import { Problem, ValidationProblem } from '../contract/problems.ts';
import { check } from '../contract/validate.ts';
import { hasExpired } from '../domain/access/access.ts';
import type { OperatorPrincipal } from '../domain/access/principal.ts';
import {
  type Arrival,
  aboutOperator,
  beginSession,
  endSession,
  enterByInvitation,
} from '../operations/access/sessions.ts';
import type { App } from '../operations/app.ts';
import type { Logger } from '../platform/logger.ts';
import {
  countOperator,
  countStranger,
  findSession,
  lookupTurn,
  refuseStranger,
  renewSession,
} from './admit.ts';
import { type Exchange, parseJson, readBody, respond } from './exchange.ts';
import { peopleRoutes } from './people.ts';
import type { Handler, Route } from './routes.ts';
import { dropSession, foreignCall, foreignOrigin, keepSession, unknownOrigin } from './session-cookie.ts';

/** How people come into the console and leave it: their answers are cookies. Everything else, the console asks of the API. */
export function consoleRoutes(app: App, { log, ownUrl }: { log: Logger; ownUrl: () => string }): Route[] {
  const route = (method: string, path: string, handler: Handler): Route => ({
    method,
    path: `/console/${path}`,
    async handler(exchange) {
      exchange.trace.operation = `console ${path}`;
      await handler(exchange);
    },
  });
  /** Refuses requests of other pages. Signing in brings its credential in the body; signing out uses the cookie alone. */
  const own = (handler: Handler, judge = foreignOrigin): Handler => {
    return async (exchange) => {
      const foreign = judge(exchange);
      if (foreign !== undefined) throw new Problem('invalid_credentials', { message: foreign });
      await handler(exchange);
    };
  };
  const { people } = app;
  const through =
    people &&
    peopleRoutes(app, people, {
      log,
      ownUrl,
      letIn: (exchange, { principal }) => letIn(app, exchange, principal),
    });
  return [
    route('GET', 'sign-in/options', async (exchange) => options(app, exchange)),
    route(
      'POST',
      'sign-in',
      own((exchange) => signIn(app, exchange)),
    ),
    route(
      'POST',
      'enter',
      own((exchange) => enter(app, exchange)),
    ),
    route('GET', 'me', (exchange) => whoAmI(app, exchange)),
    route(
      'POST',
      'sign-out',
      own(
        (exchange) => signOut(app, exchange),
        (exchange) => foreignOrigin(exchange) ?? unknownOrigin(exchange),
      ),
    ),
    ...(through
      ? [route('GET', 'sign-in/oidc', through.begin), route('GET', 'sign-in/callback', through.callback)]
      : []),
  ];
}

/** Of a body that anybody may send. */
const BODY_BYTES_MAX = 4 * 1024;

async function tokenOf(app: App, exchange: Exchange): Promise<string> {
  try {
    const { value, problems } = parseJson(exchange.raw, await readBody(exchange.raw, BODY_BYTES_MAX));
    const body = check(tokenBody, value);
    if (body.ok && problems.length === 0) return body.value.token;
    throw new ValidationProblem(body.ok ? problems : [...problems, ...body.problems]);
  } catch (problem) {
    // What anybody may send is counted, whatever it is.
    await countStranger(app, exchange);
    throw problem;
  }
}

async function signIn(app: App, exchange: Exchange): Promise<void> {
  const token = await tokenOf(app, exchange);
  const operator = await app.access.operatorOf(token, () => lookupTurn(app, exchange));
  if (!operator || hasExpired(operator, app.clock.now()))
    return refuseStranger(app, exchange, new Problem('invalid_credentials', { message: WRONG_TOKEN }));
  await countOperator(app, exchange, operator);
  if (app.people && !operator.isEmergency)
    throw new Problem('insufficient_permissions', { message: NOT_BY_TOKEN });
  await letIn(app, exchange, operator);
  respond(exchange, 204, undefined);
}

const WRONG_TOKEN =
  'This token is not one that works. Check that it was copied whole, or ask an admin for another one.';

const NOT_BY_TOKEN =
  'People sign in through the identity provider here. Only a token that was made for emergencies signs in to the console; for the API, every token works as before.';

/** What the page has to know before anybody is signed in. */
function options({ deployment, environment }: App, exchange: Exchange): void {
  const { sign_in, support_contact } = deployment;
  respond(exchange, 200, JSON.stringify({ sign_in, environment, support_contact }));
}

async function letIn(app: App, exchange: Exchange, principal: OperatorPrincipal): Promise<void> {
  exchange.trace.operatorId = principal.operatorId;
  const { token, seconds } = await beginSession(app, principal, await arrivalOf(app, exchange));
  keepSession(exchange, token, seconds);
}

async function arrivalOf(app: App, exchange: Exchange): Promise<Arrival> {
  const former = await findSession(app, exchange);
  return {
    address: exchange.transport.address,
    userAgent: exchange.headers['user-agent'],
    requestId: exchange.id,
    formerSessionId: former?.principal.sessionId,
  };
}

/** The link of an invitation is good for one session. */
async function enter(app: App, exchange: Exchange): Promise<void> {
  const link = await tokenOf(app, exchange);
  const begun = (await app.access.isInvitation(link, () => lookupTurn(app, exchange)))
    ? await enterByInvitation(app, link, await arrivalOf(app, exchange))
    : undefined;
  if (!begun)
    return refuseStranger(app, exchange, new Problem('invalid_credentials', { message: LINK_OVER }));
  keepSession(exchange, begun.token, begun.seconds);
  respond(exchange, 204, undefined);
}

const LINK_OVER =
  'This link was used already, was withdrawn, or is older than three days. Ask whoever invited you for another one.';

/** Who is signed in, an operator or somebody who was invited. */
async function whoAmI(app: App, exchange: Exchange): Promise<void> {
  const found = foreignCall(exchange) === undefined ? await findSession(app, exchange) : undefined;
  if (!found || hasExpired(found.principal, app.clock.now())) return refuseStranger(app, exchange);
  await renewSession(app, exchange);
  const { principal, times } = found;
  const guest = principal.kind === 'guest' ? principal : undefined;
  const session = {
    id: principal.sessionId,
    expires_at: new Date(times.expiresAt).toISOString(),
    idle_expires_at: new Date(times.idleExpiresAt).toISOString(),
  };
  const body = {
    kind: guest ? (guest.partner ? 'partner' : 'practice') : 'operator',
    name: principal.name,
    email: guest?.email ?? null,
    partner: guest?.partner ?? null,
    practice_group: guest?.practiceGroup ?? null,
    session,
    environment: app.environment,
    // What the console would ask for next, and wait for.
    as_operator: principal.kind === 'operator' ? aboutOperator(app, principal, session) : null,
  };
  respond(exchange, 200, JSON.stringify(body));
}

/** Whoever is signed in no more is signed out as well. */
async function signOut(app: App, exchange: Exchange): Promise<void> {
  const found = await findSession(app, exchange);
  if (found) {
    if (found.principal.kind === 'operator') exchange.trace.operatorId = found.principal.operatorId;
    await endSession(app, found.principal, exchange.id);
  }
  dropSession(exchange);
  respond(exchange, 204, undefined);
}
