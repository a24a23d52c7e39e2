import {
  type AlertDetails,
  type AlertKindName,
  alertKindNames,
  type Ending,
  type SubjectType,
} from '../../contract/alerts.ts';

/**
 * When an alert begins and when it is over: pure decisions from what a look at the database has found. A kind is one entry of `judges`, and one
 * of `messages` in alert-words.ts.
 */

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A receiver that is restarted, or whose certificate is being renewed, is back within the hour. */
export const FAILING_MS = HOUR;
/** Two working weeks, to have a key rotated or an agreement renewed; of a key that lives for less than four, the second half of its life. */
export const EXPIRING_MS = 14 * DAY;
export const UNUSED_MS = 90 * DAY;
/** So many refusals within an hour are worth a word at all. */
export const REFUSALS_FLOOR = 100;
/** And then so many times what is usual at that hour, over the days before. */
const REFUSALS_RATIO = 3;
export const REFUSALS_DAYS = 7;
/** Events that are not fanned out, and deliveries that are not claimed, although workers run: a hundred times the usual wait. */
const SERVICE_LATE_MS = 10 * MINUTE;
/** The same while no worker runs. Workers sign every 15 s, and a look comes once a minute: the alert begins within two minutes. */
const UNSERVED_MS = 30_000;

export const serviceLateMs = ({ isServed }: Pick<AlertFacts, 'isServed'>) =>
  isServed ? SERVICE_LATE_MS : UNSERVED_MS;

/** What operators differ in. */
export interface AlertThresholds {
  partnerWaitingDays: number;
  lateMinutes: number;
  ehrDownMinutes: number;
  changesPendingMinutes: number;
}

export interface WebhookFact {
  id: string;
  host: string;
  partnerId: string | null;
  practiceGroupId: string | null;
  status: 'active' | 'paused' | 'disabled';
  statusReason: string | null;
  updatedAt: string;
  isDeleted: boolean;
  isWithheld: boolean;
  failures: number;
  failingSince: string | null;
  /** When the first of what is queued was put there; null: nothing has been there for long. */
  oldest: string | null;
}

export interface KeyFact {
  id: string;
  name: string;
  partnerId: string;
  practiceGroupId: string;
  isPartnerVerified: boolean;
  createdAt: string;
  expiresAt: string | null;
  isRevoked: boolean;
  isReplaced: boolean;
  lastUsedAt: string | null;
}

export interface RefusalFact {
  partnerId: string;
  name: string;
  /** Within this hour so far, and within the one before; and on average at the same hours of the days before. */
  now: { count: number; usual: number };
  before: { count: number; usual: number };
}

export interface PartnerFact {
  id: string;
  name: string;
  status: string;
  /** Since when it has this status. */
  since: string;
}

export interface GroupFact {
  id: string;
  name: string;
  isUnhealthy: boolean;
  changedAt: string;
}

/** A practice group, and its changes that have been neither applied nor rejected for too long. */
export interface PendingFact {
  id: string;
  name: string;
  /** When the first of them was made; null: there is none. */
  since: string | null;
  count: number | null;
}

export interface AgreementFact {
  id: string;
  name: string;
  partnerId: string;
  isPartnerVerified: boolean;
  endsAt: string | null;
  /** Keys that work under it. */
  keys: number;
}

export interface StopFact {
  id: string;
  /** Of the partner. */
  name: string;
  partnerId: string;
  practiceGroupId: string;
  since: string;
  isLifted: boolean;
}

/** Of each kind of thing, those that may be concerned, and those that an open alert is about, if they are still there. */
export interface AlertFacts {
  webhooks: readonly WebhookFact[];
  keys: readonly KeyFact[];
  refusals: readonly RefusalFact[];
  partners: readonly PartnerFact[];
  groups: readonly GroupFact[];
  pending: readonly PendingFact[];
  agreements: readonly AgreementFact[];
  stops: readonly StopFact[];
  /** The oldest event or change that nobody has fanned out, or delivery that no worker has claimed; null: there is none. */
  unclaimedSince: string | null;
  /** Whether a node that delivers has signed lately, and more than once. */
  isServed: boolean;
}

export interface OpenAlert {
  id: string;
  kind: AlertKindName;
  subjectId: string;
}

export interface NewAlert {
  kind: AlertKindName;
  subject: { type: SubjectType; id: string; name: string };
  partnerId: string | null;
  practiceGroupId: string | null;
  details: AlertDetails;
}

interface Judged extends Omit<NewAlert, 'kind' | 'details'> {
  /** It is so now. Undefined: it is not, or not any more. */
  stands: Partial<AlertDetails> | undefined;
  /** Why it ended, if it did. */
  because: Ending;
}

interface Circumstances {
  now: number;
  thresholds: AlertThresholds;
  isOpen: (subjectId: string) => boolean;
}

/** The service is a subject of its own, and there is one. */
export const SERVICE = 'service';

const isSince = (moment: string | null, ms: number, now: number): boolean =>
  moment !== null && now - Date.parse(moment) >= ms;

/** What no partner has leads to software of the operator: of one practice, that is where changes of partners are written through to. */
export function kindOfWebhook(
  partnerId: string | null,
  practiceGroupId: string | null,
): 'webhook' | 'subscription' | 'write_through' {
  if (partnerId !== null) return 'webhook';
  return practiceGroupId === null ? 'subscription' : 'write_through';
}

const ofWebhook = ({ id, host, partnerId, practiceGroupId }: WebhookFact) => ({
  subject: { type: kindOfWebhook(partnerId, practiceGroupId), id, name: host },
  partnerId,
  practiceGroupId,
});

const receives = (webhook: WebhookFact) =>
  webhook.status === 'active' && !webhook.isDeleted && !webhook.isWithheld;

function whyWebhookIsOver({ isDeleted, status, isWithheld }: WebhookFact): Ending {
  if (isDeleted) return 'gone';
  if (status !== 'active') return status;
  return isWithheld ? 'withheld' : 'recovered';
}

const isFailing = (webhook: WebhookFact, now: number) =>
  receives(webhook) && isSince(webhook.failingSince, FAILING_MS, now);

function isLate(webhook: WebhookFact, { now, thresholds, isOpen }: Circumstances): boolean {
  if (!receives(webhook) || !isSince(webhook.oldest, thresholds.lateMinutes * MINUTE, now)) return false;
  // Of one that fails altogether, `webhook_failing` tells. One that some deliveries reach fails now and then: that does not end it.
  return isOpen(webhook.id) ? !isFailing(webhook, now) : webhook.failingSince === null;
}

const ofKey = ({ id, name, partnerId, practiceGroupId }: KeyFact) => ({
  subject: { type: 'key' as const, id, name },
  partnerId,
  practiceGroupId,
});

const isOver = ({ isRevoked, isReplaced, expiresAt }: KeyFact, now: number) =>
  isRevoked || isReplaced || (expiresAt !== null && Date.parse(expiresAt) <= now);

function whyKeyIsOver(key: KeyFact, now: number, otherwise: Ending): Ending {
  if (key.isRevoked || key.isReplaced) return 'replaced';
  return isOver(key, now) ? 'expired' : otherwise;
}

function isExpiring(key: KeyFact, now: number): boolean {
  if (key.expiresAt === null || isOver(key, now)) return false;
  const end = Date.parse(key.expiresAt);
  return end - now <= Math.min(EXPIRING_MS, (end - Date.parse(key.createdAt)) / 2);
}

const isRising = ({ count, usual }: RefusalFact['now']): boolean =>
  count >= REFUSALS_FLOOR && count >= REFUSALS_RATIO * usual;

const ofStop = ({ id, name, partnerId, practiceGroupId }: Omit<StopFact, 'isLifted'>) => ({
  subject: { type: 'stop' as const, id, name },
  partnerId,
  practiceGroupId,
});

/** What is told of a stop when it is made. */
export const stopAlert = (stop: Omit<StopFact, 'isLifted'>): NewAlert => ({
  kind: 'partner_stopped',
  ...ofStop(stop),
  details: { ...noDetails, since: stop.since },
});

const waitingStatuses = ['applied', 'agreement_signed'];

type Judge = (facts: AlertFacts, circumstances: Circumstances) => Judged[];

const judges: Record<AlertKindName, Judge> = {
  webhook_failing: ({ webhooks }, { now }) =>
    webhooks.map((webhook) => ({
      ...ofWebhook(webhook),
      stands: isFailing(webhook, now) ? { since: webhook.failingSince, count: webhook.failures } : undefined,
      because: whyWebhookIsOver(webhook),
    })),
  webhook_disabled: ({ webhooks }) =>
    webhooks.map((webhook) => ({
      ...ofWebhook(webhook),
      stands:
        webhook.status === 'disabled' && !webhook.isDeleted
          ? { since: webhook.updatedAt, reason: webhook.statusReason }
          : undefined,
      because: whyWebhookIsOver(webhook),
    })),
  deliveries_late: ({ webhooks, unclaimedSince, isServed }, circumstances) => [
    ...webhooks.map((webhook) => ({
      ...ofWebhook(webhook),
      stands: isLate(webhook, circumstances) ? { since: webhook.oldest } : undefined,
      because: whyWebhookIsOver(webhook),
    })),
    {
      subject: { type: 'service', id: SERVICE, name: 'Porter' },
      partnerId: null,
      practiceGroupId: null,
      stands: isSince(unclaimedSince, serviceLateMs({ isServed }), circumstances.now)
        ? { since: unclaimedSince }
        : undefined,
      because: 'recovered',
    },
  ],
  key_expiring: ({ keys }, { now, isOpen }) =>
    keys.map((key) => ({
      ...ofKey(key),
      stands:
        isExpiring(key, now) && (key.isPartnerVerified || isOpen(key.id))
          ? { until: key.expiresAt }
          : undefined,
      because: whyKeyIsOver(key, now, 'replaced'),
    })),
  key_unused: ({ keys }, { now, isOpen }) =>
    keys.map((key) => {
      const since = key.lastUsedAt ?? key.createdAt;
      const isUnused = !isOver(key, now) && isSince(since, UNUSED_MS, now);
      return {
        ...ofKey(key),
        stands: isUnused && (key.isPartnerVerified || isOpen(key.id)) ? { since } : undefined,
        because: whyKeyIsOver(key, now, 'recovered'),
      };
    }),
  // Begun and ended by whoever reports it.
  key_leaked: () => [],
  refusals_rising: ({ refusals }, { now }) =>
    refusals.map(({ partnerId, name, now: current, before }) => {
      const hour = now - (now % HOUR);
      // The hour before counts too: else it would end whenever the clock strikes.
      const rising = isRising(current) ? { ...current, hour } : { ...before, hour: hour - HOUR };
      return {
        subject: { type: 'partner', id: partnerId, name },
        partnerId,
        practiceGroupId: null,
        stands: isRising(rising)
          ? {
              since: new Date(rising.hour).toISOString(),
              count: rising.count,
              usual: Math.round(rising.usual),
            }
          : undefined,
        because: 'recovered',
      };
    }),
  partner_waiting: ({ partners }, { now, thresholds }) =>
    partners.map(({ id, name, status, since }) => ({
      subject: { type: 'partner', id, name },
      partnerId: id,
      practiceGroupId: null,
      stands:
        waitingStatuses.includes(status) && isSince(since, thresholds.partnerWaitingDays * DAY, now)
          ? { since, reason: status }
          : undefined,
      because: 'recovered',
    })),
  ehr_down: ({ groups }, { now, thresholds }) =>
    groups.map(({ id, name, isUnhealthy, changedAt }) => ({
      subject: { type: 'practice_group', id, name },
      partnerId: null,
      practiceGroupId: id,
      stands:
        isUnhealthy && isSince(changedAt, thresholds.ehrDownMinutes * MINUTE, now)
          ? { since: changedAt }
          : undefined,
      because: 'recovered',
    })),
  changes_pending: ({ pending }, { now, thresholds }) =>
    pending.map(({ id, name, since, count }) => ({
      subject: { type: 'practice_group', id, name },
      partnerId: null,
      practiceGroupId: id,
      stands: isSince(since, thresholds.changesPendingMinutes * MINUTE, now) ? { since, count } : undefined,
      because: 'recovered',
    })),
  partner_stopped: ({ stops }) =>
    stops.map((stop) => ({
      ...ofStop(stop),
      stands: stop.isLifted ? undefined : { since: stop.since },
      because: 'lifted',
    })),
  agreement_ended: ({ agreements }, { now, isOpen }) =>
    agreements.map(({ id, name, partnerId, isPartnerVerified, endsAt, keys }) => ({
      subject: { type: 'agreement', id, name },
      partnerId,
      practiceGroupId: null,
      stands:
        keys > 0 && isSince(endsAt, -EXPIRING_MS, now) && (isPartnerVerified || isOpen(id))
          ? { until: endsAt, count: keys }
          : undefined,
      because: 'settled',
    })),
};

export const noDetails: AlertDetails = { since: null, until: null, count: null, usual: null, reason: null };

export interface AlertDecision {
  begin: NewAlert[];
  end: { id: string; because: Ending }[];
}

/** What is not so yet begins, what is not so any more ends, and everything else stays as it is. */
export function decideAlerts(
  facts: AlertFacts,
  open: readonly OpenAlert[],
  now: number,
  thresholds: AlertThresholds,
): AlertDecision {
  const decision: AlertDecision = { begin: [], end: [] };
  for (const kind of alertKindNames) {
    const ofKind = new Map(open.filter((one) => one.kind === kind).map((one) => [one.subjectId, one.id]));
    const isOpen = (subjectId: string) => ofKind.has(subjectId);
    const judged = judges[kind](facts, { now, thresholds, isOpen });
    const standing = new Map(judged.map((one) => [one.subject.id, one]));
    for (const { stands, because: _because, ...about } of standing.values())
      if (stands && !isOpen(about.subject.id))
        decision.begin.push({ kind, ...about, details: { ...noDetails, ...stands } });
    for (const [subjectId, id] of ofKind) {
      const found = standing.get(subjectId);
      if (!found?.stands) decision.end.push({ id, because: found?.because ?? 'gone' });
    }
  }
  return decision;
}
