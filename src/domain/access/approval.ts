import type { Approval } from '../../contract/approval.ts';
import { APPROVAL_HOURS } from '../../contract/approval.ts';

/** Thrown by an operation that was to widen something, before it has done anything. */
export class NeedsApproval extends Error {}

/** As it is stored. */
export interface StoredApproval {
  id: string;
  kind: Approval['kind'];
  operation: string;
  params: Record<string, string>;
  body: unknown;
  requested_by: string;
  requested_name: string;
  requested_at: string;
  expires_at: string;
  decision: 'approved' | 'declined' | null;
  decided_by: string | null;
  decided_name: string | null;
  decided_at: string | null;
  reason: string | null;
  has_answer: boolean;
  /** A digest of the object that it is about, as it was then. */
  basis: string | null;
}

const HOUR_MS = 3_600_000;

export function approvalExpiry(now: number): string {
  return new Date(now + APPROVAL_HOURS * HOUR_MS).toISOString();
}

/** Over at the very instant, like a key. */
export function approvalStatus(
  { decision, expires_at }: Pick<StoredApproval, 'decision' | 'expires_at'>,
  now: number,
): Approval['status'] {
  return decision ?? (Date.parse(expires_at) <= now ? 'expired' : 'pending');
}

export function isCollectable({ has_answer, decided_at }: StoredApproval, now: number): boolean {
  return has_answer && decided_at !== null && now < Date.parse(decided_at) + APPROVAL_HOURS * HOUR_MS;
}
