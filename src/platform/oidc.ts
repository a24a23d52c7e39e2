import { createHash } from 'node:crypto';
import type { AuthorizationCodeGrantChecks, Configuration } from 'openid-client';
import { Outage } from './outage.ts';

/** A provider of OpenID Connect, as the settings name it. */
export interface OidcSettings {
  issuer: string;
  clientId: string;
  /** Undefined: the client has none, and PKCE alone ties the code to it. */
  clientSecret: string | undefined;
  scopes: string;
  /** It is on this machine, and may be called without TLS. */
  isLocal: boolean;
}

/** What is made for one sign-in and must come back from it. */
export interface SignInSecrets {
  state: string;
  nonce: string;
  verifier: string;
}

/** What the provider says of somebody. */
export type Claims = Record<string, unknown> & { iss: string; sub: string };

/** The provider, or what came back, said no. The message is for the log. */
export class SignInRefused extends Error {}

export interface Oidc {
  /** Where the browser is sent. */
  authorizationUrl(redirectUri: string, secrets: SignInSecrets): Promise<string>;
  /** What the browser came back with, for who it is. `claim`: asked for at the provider where the ID token does not have it. */
  redeem(callbackUrl: string, secrets: SignInSecrets, hasClaim: (claims: Claims) => boolean): Promise<Claims>;
}

const ANSWER_SECONDS = 5;

/** The library is loaded, and the provider asked for its metadata, with the first sign-in: a start waits for neither. */
export function createOidc(settings: OidcSettings): Oidc {
  let found: Promise<Provider> | undefined;
  const provider = ({ anew } = { anew: false }) => {
    if (!found || anew) {
      const asked = discover(settings);
      found = asked;
      // A failure is not remembered.
      asked.catch(() => {
        if (found === asked) found = undefined;
      });
    }
    return found;
  };
  return {
    async authorizationUrl(redirect_uri, { state, nonce, verifier }) {
      const { client, config } = await provider();
      const code_challenge = createHash('sha256').update(verifier).digest('base64url');
      return client.buildAuthorizationUrl(config, {
        redirect_uri,
        scope: settings.scopes,
        state,
        nonce,
        code_challenge,
        code_challenge_method: 'S256',
      }).href;
    },
    async redeem(callbackUrl, { state, nonce, verifier }, hasClaim) {
      // What was found keeps the provider's keys. Found anew, it has those that were rotated in since.
      const { client, config } = await provider({ anew: true });
      const checks: AuthorizationCodeGrantChecks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      };
      try {
        const tokens = await client.authorizationCodeGrant(config, new URL(callbackUrl), checks);
        const claims = tokens.claims() as Claims;
        if (hasClaim(claims) || config.serverMetadata().userinfo_endpoint === undefined) return claims;
        return { ...(await client.fetchUserInfo(config, tokens.access_token, claims.sub)), ...claims };
      } catch (error) {
        throw isOutOfReach(error) ? unreachable(settings, error) : refused(error);
      }
    },
  };
}

interface Provider {
  client: typeof import('openid-client');
  config: Configuration;
}

async function discover(settings: OidcSettings): Promise<Provider> {
  const { issuer, clientId, clientSecret, isLocal } = settings;
  const client = await import('openid-client');
  const config = await client
    .discovery(
      new URL(issuer),
      clientId,
      undefined,
      clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret),
      {
        timeout: ANSWER_SECONDS,
        execute: [client.enableNonRepudiationChecks, ...(isLocal ? [client.allowInsecureRequests] : [])],
      },
    )
    .catch((error: unknown) => {
      throw unreachable(settings, error);
    });
  return { client, config };
}

function unreachable({ issuer }: OidcSettings, cause: unknown): Outage {
  return new Outage(`the provider ${issuer} cannot be asked who somebody is: ${reasonOf(cause)}`, { cause });
}

function refused(cause: unknown): SignInRefused {
  return new SignInRefused(reasonOf(cause), { cause });
}

/** What a library says and, where that is little, what is behind it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const detail = 'error_description' in error ? error.error_description : undefined;
  const behind = error.cause instanceof Error ? error.cause.message : undefined;
  return [error.message, detail, behind].filter((part) => typeof part === 'string' && part !== '').join(': ');
}

/** No answer, or one that says that there will be another. */
function isOutOfReach(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  if (error instanceof TypeError && error.message === 'fetch failed') return true;
  if ('code' in error && error.code === 'OAUTH_TIMEOUT') return true;
  const { cause } = error;
  if (cause instanceof Response && cause.status >= 500) return true;
  return cause instanceof Error && isOutOfReach(cause);
}
