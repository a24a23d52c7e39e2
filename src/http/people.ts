import { beginSignIn, completeSignIn, type Outcome, openSignIn } from '../operations/access/people.ts';
import type { App } from '../operations/app.ts';
import type { Logger } from '../platform/logger.ts';
import { SignInRefused } from '../platform/oidc.ts';
import { Outage } from '../platform/outage.ts';
import { countStranger } from './admit.ts';
import { type Notice, respondNotice } from './console-pages.ts';
import { type Exchange, respond } from './exchange.ts';
import type { Handler } from './routes.ts';
import { readCookie, setCookie } from './session-cookie.ts';

/**
 * The way through a provider of OpenID Connect: there with PKCE, state and nonce, and back. What must come back with the answer is in a cookie,
 * sealed, so any node can take it up. That one is Lax, not Strict: the way back begins at another site.
 */
export interface PeopleRoutes {
  begin: Handler;
  callback: Handler;
}

const COOKIE = 'porter-sign-in';
const CALLBACK = '/console/sign-in/callback';

type Door = NonNullable<App['people']>;
type LetIn = (exchange: Exchange, outcome: Outcome & { kind: 'in' }) => Promise<void>;

export function peopleRoutes(
  app: App,
  door: Door,
  { log, ownUrl, letIn }: { log: Logger; ownUrl: () => string; letIn: LetIn },
): PeopleRoutes {
  return {
    async begin(exchange) {
      try {
        const to = pathWithin(exchange.query.to);
        const { url, sealed, seconds } = await beginSignIn(app, door, ownUrl() + CALLBACK, to);
        setCookie(exchange, COOKIE, sealed, { sameSite: 'Lax', seconds });
        redirect(exchange, url);
      } catch (error) {
        respondNotice(exchange, noticeOf(error, exchange, log));
      }
    },
    async callback(exchange) {
      const begun = openSignIn(app, readCookie(exchange, COOKIE));
      setCookie(exchange, COOKIE, '', { sameSite: 'Lax', seconds: 0 });
      // Whoever has not come from here is a stranger, and counts as one.
      if (!begun) {
        await countStranger(app, exchange);
        return respondNotice(exchange, NOT_BEGUN);
      }
      try {
        const outcome = await completeSignIn(app, door, ownUrl() + exchange.url, begun, exchange.id);
        if (outcome.kind !== 'in') return respondNotice(exchange, refusalOf(outcome, door.rolesClaim));
        await letIn(exchange, outcome);
        redirect(exchange, outcome.to);
      } catch (error) {
        if (error instanceof SignInRefused) await countStranger(app, exchange);
        respondNotice(exchange, noticeOf(error, exchange, log));
      }
    },
  };
}

/** Returns the page of the console to go on to. A path that a browser or a proxy would change leads to the first page. */
function pathWithin(to: unknown): string {
  if (typeof to !== 'string' || !/^\/[\w\-./~%?=&:+,;@!*'()]*$/.test(to)) return HOME;
  const path = /^\/console(\/|\?|$)/.test(to) ? to : HOME + to;
  const [beforeQuery = ''] = path.split('?');
  const isNormal = new URL(path, 'http://console').href === `http://console${path}`;
  return isNormal && !CHANGEABLE.test(beforeQuery) ? path : HOME;
}

const HOME = '/console';
/** Two slashes, and the codes of a dot, a slash, a backslash, a percent sign and a control character. */
const CHANGEABLE = /\/\/|%(2[ef5]|5c|[01][0-9a-f]|7f)/i;

function redirect(exchange: Exchange, url: string): void {
  exchange.outgoing.push('location', url, 'referrer-policy', 'no-referrer');
  respond(exchange, 303, undefined);
}

const NOT_BEGUN: Notice = {
  status: 400,
  title: 'This sign-in was not begun here',
  text: [
    'It was begun in another browser, more than ten minutes ago, or was completed already. Begin again.',
  ],
};

function refusalOf(outcome: Exclude<Outcome, { kind: 'in' }>, claim: string): Notice {
  if (outcome.kind === 'revoked')
    return {
      status: 403,
      title: 'You have no access any more',
      text: [
        `${outcome.name} was known here, and an admin has taken the access away. Ask an admin of Porter.`,
      ],
    };
  const has = outcome.values.length > 0 ? `has ${listed(outcome.values)}` : 'has nothing';
  return {
    status: 403,
    title: 'You have no role here',
    text: [
      `You are signed in at your provider as ${outcome.name}, but nothing that it says of you stands for a role in Porter.`,
      `Ask whoever looks after your provider for one of ${listed(outcome.wanted)} in the claim “${claim}”, which ${has}. Then sign in again.`,
    ],
  };
}

const LISTED_MAX = 10;

function listed(values: readonly string[]): string {
  const shown = values.slice(0, LISTED_MAX).map((value) => `“${value}”`);
  return values.length > LISTED_MAX ? `${shown.join(', ')} and others` : shown.join(', ');
}

function noticeOf(error: unknown, exchange: Exchange, log: Logger): Notice {
  if (error instanceof Outage) {
    log.warn({ request_id: exchange.id, reason: error.message }, 'outage');
    return {
      status: 503,
      title: 'Your provider cannot be reached',
      text: [
        'Porter cannot ask your identity provider who you are at this moment. Try again in a minute. If it lasts, an admin can sign in with an emergency token.',
      ],
    };
  }
  if (error instanceof SignInRefused) {
    log.warn({ request_id: exchange.id, reason: error.message }, 'sign-in refused');
    return {
      status: 401,
      title: 'You were not signed in',
      text: [
        'Your identity provider did not confirm who you are. Begin again; if that does not help, tell whoever runs Porter the number below.',
      ],
    };
  }
  throw error;
}
