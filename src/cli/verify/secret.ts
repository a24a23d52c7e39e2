import { secretBytes } from '../../domain/events/signature.ts';
import type { Finding, Reading } from './finding.ts';

const REMEDY =
  'Use the secret as it was shown when the webhook was made: whsec_ and 44 characters of base64.';

/** The secrets that may be meant by what was given. None if it is no secret at all. */
export function secretReadings(given: string): Reading<Uint8Array>[] {
  const readings: Reading<Uint8Array>[] = [];
  const add = (text: string, what?: string) => {
    const value = bytesOf(text);
    if (!value || readings.some((one) => Buffer.from(one.value).equals(value))) return;
    readings.push(
      what === undefined ? { value } : { value, finding: mangled(`${what}. Mended, it is right.`) },
    );
  };
  const clean = given.trim().replace(/^(["'])(.*)\1$/, '$2');
  if (clean === given) add(given);
  else add(clean, 'The secret has white space or quotes around it');
  add(`whsec_${clean}`, 'The secret lacks its prefix whsec_');
  add(
    Buffer.from(clean, 'base64').toString().trim(),
    'The secret was encoded as base64 once more, prefix and all',
  );
  const [, hex] = /^(?:whsec_)?([0-9a-f]{64})$/i.exec(clean) ?? [];
  if (hex)
    add(
      `whsec_${Buffer.from(hex, 'hex').toString('base64')}`,
      'The secret is written in hex instead of base64',
    );
  return readings;
}

/** What else can be said about a secret with which no reading of the request fits. */
export function wrongSecret(given: string): Finding {
  if (/^\s*["']?pt[ro]_/.test(given))
    return {
      kind: 'secret_is_api_key',
      message: 'What was given as the secret is an API key or a token.',
      remedy: 'The secret of a webhook begins with whsec_; it was shown when the webhook was made.',
    };
  if (/whsec\//.test(given))
    return mangled(
      'The secret was decoded from base64 and encoded again, prefix and all, which has changed it.',
    );
  if (secretReadings(given).length === 0)
    return mangled('What was given as the secret is not one: it does not hold 32 bytes of base64.');
  return {
    kind: 'wrong_secret',
    message:
      'No signature was made with this secret over this body: it is the secret of another webhook, or the content was changed.',
    remedy:
      'Compare the webhook: each has its own secret, also on staging and in production. If it is lost, rotate it. What `porter listen` forwards is signed with the secret that it prints.',
  };
}

function mangled(message: string): Finding {
  return { kind: 'secret_mangled', message, remedy: REMEDY };
}

function bytesOf(text: string): Uint8Array | undefined {
  try {
    return secretBytes(text);
  } catch {
    return undefined;
  }
}
