import type { Environment } from '../contract/access.ts';
import { Problem, unknownKeys, unknownTokens } from '../contract/problems.ts';
import { faultOfKey } from '../domain/access/api-key.ts';
import type { Exchange } from './exchange.ts';
import { foreignCall, sessionToken } from './session-cookie.ts';

/**
 * The 401 of an unknown caller names what the request itself shows, and nothing that the database knows: an unknown, an expired and a
 * revoked key get the same answer.
 */
export function unknownCaller(environment: Environment, exchange: Exchange): Problem {
  const message = sessionMessage(exchange) ?? credentialMessage(environment, exchange);
  return new Problem('invalid_credentials', message === undefined ? undefined : { message });
}

export function bearerOf({ headers }: Exchange): string | undefined {
  return /^bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

const SESSION_OVER = 'The session is over. Sign in again.';

/** The fault of a session is named: only its holder has the cookie. */
function sessionMessage(exchange: Exchange): string | undefined {
  const isOfSession =
    (/^\/(operator|console|portal|practice)\//.test(exchange.path) || 'x-porter-key' in exchange.headers) &&
    bearerOf(exchange) === undefined &&
    sessionToken(exchange) !== undefined;
  return isOfSession ? (foreignCall(exchange) ?? SESSION_OVER) : undefined;
}

function credentialMessage(environment: Environment, exchange: Exchange): string | undefined {
  const { headers, path } = exchange;
  if (path.startsWith('/operator/')) {
    if (bearerOf(exchange) !== undefined) return unknownTokens.refused;
    if (headers.authorization !== undefined) return unknownTokens.not_bearer;
    return headers['x-api-key'] === undefined ? unknownTokens.missing : unknownTokens.api_key;
  }
  if (!/^\/v\d+(\/|$)/.test(path)) return undefined;
  const key = String(headers['x-api-key'] ?? '');
  if (key === '' && headers.authorization !== undefined) return unknownKeys.in_authorization;
  const fault = faultOfKey(environment, key);
  return fault && unknownKeys[fault];
}
