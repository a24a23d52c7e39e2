import { createLocalJWKSet, errors, type JSONWebKeySet, jwtVerify } from 'jose';

/** What an assertion must say to be good for a call. */
export interface AssertionTerms {
  /** The public keys of whoever signs. */
  jwks: { keys: readonly object[] };
  /** Both `iss` and `sub`. */
  issuer: string;
  /** Any one of these is `aud`. */
  audiences: string[];
  now: Date;
}

export interface VerifiedAssertion {
  jti: string;
  expiresAt: string;
}

/** Longer ones are of no use to anybody, and fill the headers. */
const ASSERTION_LENGTH_MAX = 8 * 1024;
/** So far ahead an assertion may expire: it bounds for how long a used one has to be remembered. */
const LIFETIME_SECONDS_MAX = 300;
const JTI_LENGTH_MAX = 128;

/**
 * Verifies an assertion as `private_key_jwt` has it (RFC 7523, OpenID Connect Core 9; the NHS England platform's profile): RS512, `iss` and
 * `sub` the same, `aud`, `jti`, and an `exp` at most five minutes ahead. Whether the `jti` was used before is for the caller to find out.
 */
export async function verifyAssertion(
  assertion: string,
  { jwks, issuer, audiences, now }: AssertionTerms,
): Promise<VerifiedAssertion | undefined> {
  if (assertion.length > ASSERTION_LENGTH_MAX) return undefined;
  try {
    const { payload } = await jwtVerify(assertion, createLocalJWKSet(jwks as JSONWebKeySet), {
      algorithms: ['RS512'],
      issuer,
      subject: issuer,
      audience: audiences,
      requiredClaims: ['exp', 'jti'],
      currentDate: now,
    });
    const { jti, exp = 0 } = payload;
    if (typeof jti !== 'string' || jti === '' || jti.length > JTI_LENGTH_MAX || jti.includes('\0'))
      return undefined;
    if (exp > now.getTime() / 1000 + LIFETIME_SECONDS_MAX) return undefined;
    return { jti, expiresAt: new Date(exp * 1000).toISOString() };
  } catch (error) {
    // The second is what WebCrypto throws about a public key that is none.
    if (error instanceof errors.JOSEError || error instanceof DOMException) return undefined;
    throw error;
  }
}
