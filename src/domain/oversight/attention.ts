import { kindOf } from '../../contract/alerts.ts';
import {
  ATTENTION_ITEMS_MAX,
  type AttentionAction,
  type AttentionGroup,
  type AttentionItem,
  type AttentionKind,
} from '../../contract/operator/oversight/attention.ts';
import { remedyOf } from './alert-words.ts';

/** How what needs somebody is put: how bad it is, what the next step is, and what belongs together. */

interface Kind {
  severity: AttentionGroup['severity'];
  action: AttentionAction;
}

/** The worst first. */
const kinds: Record<AttentionKind, Kind> = {
  webhook_disabled: { severity: 'critical', action: 'activate' },
  webhook_failing: { severity: 'critical', action: 'pause' },
  deliveries_late: { severity: 'critical', action: 'open' },
  key_leaked: { severity: 'critical', action: 'open' },
  ehr_down: { severity: 'warning', action: 'open' },
  deliveries_given_up: { severity: 'warning', action: 'retry_all' },
  refusals_rising: { severity: 'warning', action: 'open' },
  partner_stopped: { severity: 'warning', action: 'open' },
  changes_pending: { severity: 'warning', action: 'open' },
  key_expiring: { severity: 'warning', action: 'remind' },
  agreement_ended: { severity: 'warning', action: 'remind' },
  approval_pending: { severity: 'notice', action: 'open' },
  partner_waiting: { severity: 'notice', action: 'open' },
  key_unused: { severity: 'notice', action: 'remind' },
};
const order = Object.keys(kinds) as AttentionKind[];

/** What no alert tells of, or not yet, in words. */
const own: Partial<Record<AttentionKind, { title: string; remedy: string }>> = {
  webhook_failing: {
    title: 'A webhook is failing',
    remedy:
      'The partner is told after an hour; a subscription and a write-through lead to your own software. If many fail at once, look at your own way out first.',
  },
  deliveries_given_up: {
    title: 'Deliveries were given up',
    remedy: 'Once the receiver is mended, retry them: they are sent in their order.',
  },
  approval_pending: { title: 'Somebody waits for an approval', remedy: 'Approve it, or reject it.' },
};

export const actionOf = (kind: AttentionKind): AttentionAction => kinds[kind].action;

export interface Raised {
  kind: AttentionKind;
  cause: string | null;
  item: AttentionItem;
}

/** `counts`: how many there are of a kind, where those are not all. */
export function groupRaised(
  raised: readonly Raised[],
  counts: ReadonlyMap<AttentionKind, number>,
): AttentionGroup[] {
  const groups = Map.groupBy(raised, ({ kind, cause }) => `${order.indexOf(kind)} ${cause ?? ''}`);
  return [...groups.values()]
    .map((members) => groupOf(members, counts))
    .sort(
      (one, other) =>
        order.indexOf(one.kind) - order.indexOf(other.kind) ||
        other.count - one.count ||
        compareTimes(one.since, other.since),
    );
}

function groupOf(members: readonly Raised[], counts: ReadonlyMap<AttentionKind, number>): AttentionGroup {
  const { kind, cause } = members[0] as Raised;
  const items = members
    .map(({ item }) => item)
    .sort((one, other) => compareTimes(one.since ?? one.until, other.since ?? other.until));
  const since = items.map((item) => item.since).filter((one) => one !== null);
  return {
    kind,
    cause,
    ...wordsOf(kind),
    severity: kinds[kind].severity,
    count: cause === null ? Math.max(counts.get(kind) ?? 0, items.length) : items.length,
    since: since[0] ?? null,
    items: items.slice(0, ATTENTION_ITEMS_MAX),
  };
}

function wordsOf(kind: AttentionKind): { title: string; remedy: string } {
  const words = own[kind];
  if (words) return words;
  const alert = kind as Exclude<AttentionKind, 'deliveries_given_up' | 'approval_pending'>;
  return { title: kindOf(alert).title, remedy: remedyOf(alert, 'operator') };
}

/** The earliest first, and what has no time last. */
const compareTimes = (one: string | null, other: string | null): number => {
  const [a, b] = [one ?? '~', other ?? '~'];
  return a < b ? -1 : Number(a > b);
};

/** What an attempt came to, as a code. */
export function causeOf(attempt: { code?: string | null; status?: number | null } | null): string | null {
  if (!attempt) return null;
  return attempt.code ?? (attempt.status ? `status_${attempt.status}` : null);
}
