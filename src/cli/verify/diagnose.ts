import { createHmac, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { spoken } from '../words.ts';
import { bodyReadings, brokenBody } from './body.ts';
import type { Captured } from './captured.ts';
import type { Finding, Reading } from './finding.ts';
import { secretReadings, wrongSecret } from './secret.ts';

export interface Diagnosis {
  genuine: boolean;
  /** How long ago it was signed, by its timestamp. */
  age_seconds: number | null;
  findings: Finding[];
}

/** The tolerance of Standard Webhooks: a request that is older or newer may be a repetition by somebody else. */
const TOLERANCE_SECONDS = 300;
const NO_SECRET = new Uint8Array();
const NAMES = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;

/**
 * Whether a request is genuine, and if not, why. Each part of it is read in the ways in which it may have been damaged; the
 * combination that the signature is right for tells what happened.
 */
export function diagnose(captured: Captured, secret: string, nowSeconds: number): Diagnosis {
  const { values, findings } = findHeaders(captured.headers);
  const [id, timestamp, signature] = NAMES.map((name) => values.get(name));
  if (id === undefined || timestamp === undefined || signature === undefined)
    return { genuine: false, age_seconds: null, findings };

  const publicKey = publicKeyIn(secret);
  const signatures = publicKey ? [] : signatureReadings(signature);
  const ed25519 = publicKey ? ed25519Signatures(signature) : [];
  let best: { cost: number; findings: Finding[]; timestamp: number } | undefined;
  const keys: Reading<Uint8Array>[] = publicKey ? [{ value: NO_SECRET }] : secretReadings(secret);
  for (const key of keys) {
    for (const body of bodyReadings(captured.body)) {
      for (const time of timestampReadings(timestamp)) {
        const match = publicKey
          ? ed25519.find(({ value }) =>
              verify(null, signedText(id, time.value, body.value), publicKey, value),
            )
          : matchOf(signatures, macOf(id, time.value, body.value, key.value));
        if (!match) continue;
        const damages = [match, time, body, key].flatMap(({ finding }) => finding ?? []);
        if (!best || damages.length < best.cost)
          best = { cost: damages.length, findings: damages, timestamp: time.value };
      }
    }
  }
  const signedAt = best?.timestamp ?? timestampReadings(timestamp)[0]?.value;
  if (best) findings.push(...best.findings);
  else findings.push(mismatch(captured, signature, timestamp, secret));
  findings.push(...clockFindings(signedAt, nowSeconds));
  return {
    genuine: findings.length === 0,
    age_seconds: signedAt === undefined ? null : nowSeconds - signedAt,
    findings,
  };
}

const matchOf = (signatures: readonly Reading<Buffer>[], mac: Buffer) =>
  signatures.find(({ value }) => value.equals(mac));

/** `whpk_` and 32 bytes in base64: a public key of the service. */
function publicKeyIn(given: string): KeyObject | undefined {
  const [, base64] = /^whpk_([A-Za-z0-9+/]{43}=)$/.exec(given.trim()) ?? [];
  if (base64 === undefined) return undefined;
  const x = Buffer.from(base64, 'base64').toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

function ed25519Signatures(header: string): Reading<Buffer>[] {
  return [...header.matchAll(/(?:^|[ ,])v1a,([A-Za-z0-9+/]{86}==)(?=[ ,]|$)/g)].map(([, base64 = '']) => ({
    value: Buffer.from(base64, 'base64'),
  }));
}

function signedText(id: string, timestampSeconds: number, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${id}.${timestampSeconds}.`), body]);
}

/** The MAC is over bytes: what is no text must not pass for the text that it resembles. */
function macOf(id: string, timestampSeconds: number, body: Buffer, secret: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`${id}.${timestampSeconds}.`).update(body).digest();
}

/** The three headers, also under the names that proxies and frameworks give them. */
function findHeaders(headers: Captured['headers']): { values: Map<string, string>; findings: Finding[] } {
  const all = [...headers];
  const values = new Map<string, string>();
  const findings: Finding[] = [];
  for (const wanted of NAMES) {
    const exact = all.filter(([name]) => name.toLowerCase() === wanted);
    const near = all.filter(([name]) => plain(name) === wanted);
    const given = exact.length > 0 ? exact : near;
    const [found] = given;
    if (found) values.set(wanted, given.map(([, value]) => value).join(' '));
    if (given.length > 1)
      findings.push({
        kind: 'duplicated_header',
        message: `The header ${wanted} is there ${given.length} times.`,
        remedy:
          'Porter sends each header once. Find out what on the way adds another, and which one your library takes.',
      });
    if (!found)
      findings.push({
        kind: 'missing_header',
        message: `The header ${wanted} is missing.`,
        remedy: 'Let your proxy and your framework pass on all headers that begin with webhook-.',
      });
    else if (exact.length === 0)
      findings.push({
        kind: 'renamed_header',
        message: `The header ${wanted} arrived as ${found[0]}.`,
        remedy: `Something on the way renames headers (CGI, WSGI and some proxies do). Hand it to your library as ${wanted}.`,
      });
  }
  return { values, findings };
}

/** `HTTP_WEBHOOK_ID` and `X-Webhook-Id` are `webhook-id`. */
function plain(name: string): string {
  return name
    .toLowerCase()
    .replaceAll('_', '-')
    .replace(/^http-/, '')
    .replace(/^x-/, '');
}

/** `v1,` and base64, several with blanks between; or the same written in ways that receivers do not take. */
function signatureReadings(header: string): Reading<Buffer>[] {
  const odd = (what: string): Finding => ({
    kind: 'signature_version',
    message: `The signature is right, but ${what}: "${header.slice(0, 12)}…".`,
    remedy:
      'Receivers take `v1,` and base64, with a blank between several. Pass the header on as it was sent.',
  });
  const readings: Reading<Buffer>[] = [];
  for (const entry of header.split(' ')) {
    const [, good] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
    if (good) readings.push({ value: Buffer.from(good, 'base64') });
  }
  for (const [, version, text = ''] of header.matchAll(
    /(?:(\w{1,8})[,=:])?([A-Za-z0-9+/_-]{43,64}=?)(?=[\s,;]|$)/g,
  )) {
    const value = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64');
    readings.push({
      value,
      finding: odd(version && version !== 'v1' ? `it is marked ${version}` : 'it is not written so'),
    });
  }
  return readings;
}

function timestampReadings(text: string): Reading<number>[] {
  const rewritten: Finding = {
    kind: 'timestamp_rewritten',
    message: `webhook-timestamp holds "${text}" instead of whole seconds since 1970.`,
    remedy: 'Hand it to your library as it was sent, not as a date and not in milliseconds.',
  };
  if (/^[1-9]\d{0,11}$/.test(text)) return [{ value: Number(text) }];
  const number = /^\d+(\.\d+)?(e\+?\d+)?$/i.test(text) ? Number(text) : undefined;
  const seconds =
    number === undefined
      ? Math.floor(Date.parse(text) / 1000)
      : Math.floor(number < 1e12 ? number : number / 1000);
  return !Number.isSafeInteger(seconds) ? [] : [{ value: seconds, finding: rewritten }];
}

function clockFindings(signedAt: number | undefined, nowSeconds: number): Finding[] {
  const age = signedAt === undefined ? 0 : nowSeconds - signedAt;
  if (Math.abs(age) <= TOLERANCE_SECONDS) return [];
  const limit = `receivers allow ${spoken(TOLERANCE_SECONDS)}`;
  return [
    {
      kind: 'clock',
      message:
        age > 0
          ? `It was signed ${spoken(age)} ago; ${limit}.`
          : `It was signed ${spoken(age)} in the future; ${limit}.`,
      remedy:
        age > 0
          ? 'If you saved it earlier, add --at with the time of its arrival. Otherwise set the clock of the receiver (NTP), or verify before you queue.'
          : 'Set the clock of the receiver (NTP).',
    },
  ];
}

function wrongPublicKey(signature: string): Finding {
  if (ed25519Signatures(signature).length === 0)
    return {
      kind: 'signature_version',
      message: 'webhook-signature holds no signature of version v1a.',
      remedy: 'Set the signature of the webhook to ed25519 or both, or verify with its secret.',
    };
  return {
    kind: 'wrong_secret',
    message: 'No signature was made with the key of this public key over this body.',
    remedy: 'Take the public keys from /.well-known/webhook-keys of the service that sent it.',
  };
}

/** No reading fits: says what is visibly wrong, else that it must be the secret. */
function mismatch(captured: Captured, signature: string, timestamp: string, secret: string): Finding {
  const onSecret = publicKeyIn(secret) ? wrongPublicKey(signature) : wrongSecret(secret);
  if (onSecret.kind !== 'wrong_secret') return onSecret;
  if (timestampReadings(timestamp).length === 0)
    return {
      kind: 'timestamp_rewritten',
      message: `webhook-timestamp holds "${timestamp}", which is no time.`,
      remedy: 'It is whole seconds since 1970. Pass the header on as it was sent.',
    };
  if (!/(^|[\s,])v1,/.test(signature))
    return {
      kind: 'signature_version',
      message: `webhook-signature holds no signature of version v1: "${signature.slice(0, 12)}…".`,
      remedy: 'Porter sends `v1,` and base64. Pass the header on as it was sent.',
    };
  const length = [...captured.headers].find(([name]) => plain(name) === 'content-length')?.[1];
  return brokenBody(captured.body, length === undefined ? undefined : Number(length)) ?? onSecret;
}
