import type { Role, Scope } from '../../contract/access.ts';
import type { ApiKey } from '../../contract/operator/access/keys.ts';
import type { PracticeGroup } from '../../contract/partner/practice-groups.ts';
import type { AddressList } from './address-list.ts';

/** What a call must show beside the key. */
export type Proof =
  | { kind: 'none' }
  /** A client certificate with one of these fingerprints: SHA-256 in lower-case hex. */
  | { kind: 'mtls'; fingerprints: readonly string[] }
  /** An assertion that one of these public keys has signed. */
  | { kind: 'private_key_jwt'; jwks: NonNullable<ApiKey['jwks']> };

/** A partner's key, as the door knows it. */
export interface KeyHolder {
  keyId: string;
  partnerId: string;
  /** The practice group that the key is tied to. */
  homeGroupId: string;
  scopes: ReadonlySet<Scope>;
  rateLimitPerMinute: number;
  /** Milliseconds since the epoch; Infinity for a key that does not expire. */
  expiresAt: number;
  /** Undefined: from anywhere. */
  allowedFrom: AddressList | undefined;
  proof: Proof;
}

/** A key holder acting for one practice group that it may act for. Only the door makes one. */
export interface PartnerPrincipal {
  kind: 'partner';
  holder: KeyHolder;
  /** As the door read it, at most a second ago. */
  group: PracticeGroup & { writes_through?: boolean };
  /** Whoever acts with the key in the portal, instead of a program that holds it. */
  person?: Pick<GuestPrincipal, 'name' | 'invitationId' | 'sessionId'>;
}

export interface OperatorPrincipal {
  kind: 'operator';
  operatorId: string;
  name: string;
  role: Role;
  /** Milliseconds since the epoch; Infinity for a token that does not expire. */
  expiresAt: number;
  /** Of somebody who is signed in to the console, instead of a token. */
  sessionId?: string;
  /** Of a token that signs in to the console whatever else is asked for there. */
  isEmergency?: true;
  /** Who approved what is done on its behalf. */
  approvedBy?: { id: string; name: string };
}

/** Somebody of a partner or of a practice who was invited into the console. Reaches nothing of the operator API. */
export interface GuestPrincipal {
  kind: 'guest';
  invitationId: string;
  name: string;
  email: string;
  /** One of the two; both only where a transaction is to see no more than what is of both. */
  partner: { id: string; name: string } | null;
  practiceGroup: { id: string; name: string } | null;
  expiresAt: number;
  sessionId: string;
}

/** Of those, somebody of a partner. */
export type PortalPrincipal = GuestPrincipal & { partner: { id: string; name: string } };
/** Of those, somebody of a practice group that is there. */
export type PracticePrincipal = GuestPrincipal & { practiceGroup: { id: string; name: string } };

/** The service itself: its first start, the door, the delivery engine, the streams and the metrics. */
export interface SystemPrincipal {
  kind: 'system';
}

export const SYSTEM: SystemPrincipal = { kind: 'system' };

export type Principal = PartnerPrincipal | OperatorPrincipal | GuestPrincipal | SystemPrincipal;
