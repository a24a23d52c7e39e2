import type { IncomingMessage } from 'node:http';
import type { RefusalReason } from '../contract/partner/requests.ts';
import type { KeyHolder } from '../domain/access/principal.ts';
import type { App } from '../operations/app.ts';
import { type VerifiedAssertion, verifyAssertion } from '../platform/client-assertion.ts';
import type { FingerprintOf } from './client-certificate.ts';

/** What a call showed besides its key: a reason to refuse it, an assertion still to be used up, or nothing more to check. */
type Shown = { refused: RefusalReason } | { assertion: VerifiedAssertion } | undefined;

export type Prove = (request: IncomingMessage, holder: KeyHolder) => Shown | Promise<Shown>;

interface Surroundings {
  clock: App['clock'];
  fingerprintOf: FingerprintOf;
  /** The address by which partners call this service. */
  ownUrl: () => string;
}

export function createProver({ clock, fingerprintOf, ownUrl }: Surroundings): Prove {
  return (request, { keyId, proof }) => {
    const now = clock.now();
    switch (proof.kind) {
      case 'none':
        return undefined;
      case 'mtls': {
        const fingerprint = fingerprintOf(request, now);
        if (fingerprint === undefined) return { refused: 'proof_missing' };
        return proof.fingerprints.includes(fingerprint) ? undefined : { refused: 'proof_invalid' };
      }
      case 'private_key_jwt': {
        const sent = request.headers['x-client-assertion'];
        if (typeof sent !== 'string' || sent === '') return { refused: 'proof_missing' };
        const { jwks } = proof;
        const audiences = [ownUrl(), `${ownUrl()}/`];
        return verifyAssertion(sent, { jwks, issuer: keyId, audiences, now: new Date(now) }).then(
          (assertion) => (assertion ? { assertion } : { refused: 'proof_invalid' }),
        );
      }
    }
  };
}
