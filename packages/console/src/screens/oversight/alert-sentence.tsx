import type { OperatorAlert, Partner } from '../../api/generated.ts';
import { PracticeName } from '../../parts/name.tsx';
import { toExact } from '../../parts/when.tsx';
import { partnerStatuses } from '../access/partner-state.tsx';

/** What is the matter, by names. The message of the service says it to programs and by e-mail: with IDs, and in times of machines. */

type Told = Record<keyof OperatorAlert['details'], string | number | null>;

/** What deliveries go to. */
const receivers: Partial<Record<OperatorAlert['subject']['type'], string>> = {
  subscription: 'the subscription',
  write_through: 'the write-through address',
};

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** Before the name of what it is about, and after it. */
const sentences: Record<OperatorAlert['kind'], (told: Told, receiver: string) => [string, string]> = {
  webhook_failing: ({ since, count }, receiver) => [
    `No delivery to ${receiver}`,
    `has succeeded since ${since}; ${count} ${count === 1 ? 'attempt has' : 'attempts have'} failed.`,
  ],
  webhook_disabled: ({ since, reason }, receiver) => [
    capital(receiver),
    `has been disabled since ${since}. ${reason ?? ''}`.trim(),
  ],
  key_expiring: ({ until }) => ['The key', `expires at ${until}.`],
  key_unused: ({ since }) => ['The key', `has not been used since ${since}.`],
  key_leaked: ({ since }) => ['The key', `was reported as leaked at ${since}, and does not work any more.`],
  refusals_rising: ({ since, count, usual }) => [
    'Calls of the partner',
    `were refused ${count} times in the hour from ${since}; usual at that hour are ${usual}.`,
  ],
  partner_waiting: ({ since, reason }) => [
    'The partner',
    `has waited since ${since}: ${partnerStatuses[reason as Partner['status']]?.[1] ?? reason}.`,
  ],
  deliveries_late: ({ since }, receiver) => [
    capital(receiver),
    `has not received what was queued for it at ${since}.`,
  ],
  ehr_down: ({ since }) => ['The EHR connection of', `has been unhealthy since ${since}.`],
  changes_pending: ({ since, count }) => [
    'The practice software of',
    `has said neither applied nor rejected of ${count} ${count === 1 ? 'change' : 'changes'}, the first of ${since}.`,
  ],
  partner_stopped: ({ since }) => ['The stop of', `has stood since ${since}.`],
  agreement_ended: ({ until, count }) => [
    'The agreement',
    `ends at ${until}; ${count === 1 ? '1 key works' : `${count} keys work`} under it.`,
  ],
};

export function AlertSentence({ of: alert }: { of: OperatorAlert }) {
  const { kind, subject, practice_group_id: practice, details } = alert;
  const since = details.since && toExact(details.since);
  if (subject.type === 'service') return `What was accepted at ${since} has not been taken up for delivery.`;
  const [before, after] = sentences[kind](
    { ...details, since, until: details.until && toExact(details.until) },
    receivers[subject.type] ?? 'the webhook',
  );
  return (
    <>
      {before} <bdi>{subject.name}</bdi>{' '}
      {practice && subject.type !== 'practice_group' && (
        <>
          for <PracticeName id={practice} isPlain />{' '}
        </>
      )}
      <bdi>{after}</bdi>
    </>
  );
}
