import type { KeyObject } from 'node:crypto';
import { SYSTEM } from '../domain/access/principal.ts';
import { CircuitBreaker } from '../domain/events/flow-control.ts';
import type { ClaimedDelivery } from '../domain/events/lane.ts';
import { signedHeaders } from '../domain/events/signature.ts';
import { deliveryId } from '../domain/ids.ts';
import type { PostRequest } from '../platform/egress/egress.ts';
import type { Logger } from '../platform/logger.ts';
import { privateKeyOf } from '../platform/signer.ts';
import { type Database, transact } from '../store/database.ts';
import { type Destination, findDestinations } from '../store/events/deliveries.ts';
import { listLiveSigningKeys, type StoredSigningKey, signingKeyOwner } from '../store/events/signing-keys.ts';
import { headersOwner, secretOwner } from '../store/events/webhook-secrets.ts';

/** Opens what was sealed under a master key for this owner. */
export type Open = (secret: { sealed: Buffer; keyId: string }, owner: string) => Uint8Array;

export interface OpenDestination {
  id: string;
  version: number;
  url: string;
  /** Scheme, host and port: what deliveries to several webhooks may have in common. */
  origin: string;
  /** A webhook of the operator's own, which may be where partners' may not. */
  isOfOperator: boolean;
  /** What goes there is never given up (store/events/deliveries.ts). */
  mustArrive: boolean;
  /** What signs at a moment: its own secrets, and the keys of the deployment. */
  secretsAt: (now: number) => readonly Uint8Array[];
  signingKeysAt: ((now: number) => readonly KeyObject[]) | undefined;
  /** Of its own, by their names in lower case. */
  headers: Record<string, string> | undefined;
}

const REMEMBERED_MAX = 10_000;
const HOSTS_MAX = 10_000;
/** Deliveries that may be in flight to a host, over all its webhooks. */
const HOST_IN_FLIGHT_MAX = 1_000;

/** Where the webhooks want their deliveries and what signs them, remembered for as long as their version stays the same. */
export class Destinations {
  readonly #known = new Map<number, OpenDestination>();
  readonly #hosts = new Map<string, CircuitBreaker>();
  readonly #db: Database;
  readonly #open: Open;
  readonly #log: Logger;

  constructor(db: Database, open: Open, log: Logger) {
    this.#db = db;
    this.#open = open;
    this.#log = log;
  }

  get(no: number): OpenDestination | undefined {
    return this.#known.get(no);
  }

  /** The circuit breaker that it shares with all that have its origin and the same way out. */
  hostOf({ origin, isOfOperator }: OpenDestination): CircuitBreaker {
    const key = isOfOperator ? `operator ${origin}` : origin;
    const known = this.#hosts.get(key);
    if (known) return known;
    if (this.#hosts.size >= HOSTS_MAX)
      for (const [idle, { inFlight }] of this.#hosts) if (inFlight === 0) this.#hosts.delete(idle);
    const host = new CircuitBreaker(HOST_IN_FLIGHT_MAX);
    this.#hosts.set(key, host);
    return host;
  }

  /** Makes sure that these are known in the version that was claimed. One that cannot be had is forgotten. */
  async learn(wanted: readonly { webhookNo: number; version: number }[]): Promise<void> {
    const missing = new Set<number>();
    for (const { webhookNo, version } of wanted)
      if (this.#known.get(webhookNo)?.version !== version) missing.add(webhookNo);
    if (missing.size === 0) return;
    for (const no of missing) this.#known.delete(no);
    if (this.#known.size > REMEMBERED_MAX) {
      const needed = new Set(wanted.map(({ webhookNo }) => webhookNo));
      for (const no of this.#known.keys()) if (!needed.has(no)) this.#known.delete(no);
    }
    const destinations = await findDestinations(this.#db, [...missing]);
    const isSigned = destinations.some(({ signature }) => signature !== 'hmac');
    const sealedKeys = isSigned ? await this.#findSigningKeys() : [];
    for (const found of destinations) {
      try {
        this.#known.set(found.no, this.#opened(found, sealedKeys));
      } catch (error) {
        // Sealed under a master key that this node does not have, as while a new one is being rolled out.
        this.#log.error({ webhook_id: found.id, err: error }, 'the secret of a webhook cannot be opened');
      }
    }
  }

  /** All that are kept: which of them sign at a moment is asked with each delivery. */
  #findSigningKeys(): Promise<StoredSigningKey[]> {
    return transact(this.#db, SYSTEM, (tx) => listLiveSigningKeys(tx, '-infinity'));
  }

  #signingKeys(sealed: readonly StoredSigningKey[]): (now: number) => readonly KeyObject[] {
    const keys = sealed.map((key) => ({
      key: privateKeyOf(this.#open(key, signingKeyOwner(key.id))),
      expiresAt: key.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(key.expiresAt),
    }));
    return (now) => keys.flatMap(({ key, expiresAt }) => (expiresAt > now ? key : []));
  }

  #opened(
    { id, version, url, isOfOperator, mustArrive, secrets, headers, signature }: Destination,
    signing: readonly StoredSigningKey[],
  ): OpenDestination {
    const owner = secretOwner(id);
    const opened = secrets.map((secret) => ({
      bytes: this.#open(secret, owner),
      expiresAt: secret.expiresAt,
    }));
    const all = opened.map(({ bytes }) => bytes);
    const firstExpiry = Math.min(...opened.map(({ expiresAt }) => expiresAt));
    return {
      id,
      version,
      url,
      origin: new URL(url).origin,
      isOfOperator,
      mustArrive,
      headers: headers
        ? JSON.parse(Buffer.from(this.#open(headers, headersOwner(id))).toString())
        : undefined,
      signingKeysAt: signature === 'hmac' ? undefined : this.#signingKeys(signing),
      secretsAt: (now) =>
        signature === 'ed25519'
          ? []
          : now < firstExpiry
            ? all
            : opened.flatMap(({ bytes, expiresAt }) => (expiresAt > now ? bytes : [])),
    };
  }
}

/** A delivery as it goes out at this moment. */
export function signedRequest(to: OpenDestination, delivery: ClaimedDelivery, now: number): PostRequest {
  const { sequence, acceptedMs, payload } = delivery;
  const headers = signedHeaders({
    id: deliveryId(to.id, sequence, acceptedMs),
    timestampSeconds: Math.floor(now / 1000),
    sequence,
    body: payload,
    secrets: to.secretsAt(now),
    ...(to.signingKeysAt && { signingKeys: to.signingKeysAt(now) }),
  });
  return {
    url: to.url,
    headers: to.headers ? { ...to.headers, ...headers } : headers,
    body: payload,
    traceparent: delivery.traceparent,
  };
}
