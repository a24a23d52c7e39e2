import { type AlertDetails, type AlertKindName, kindOf } from '../contract/alerts.ts';
import { SERVICE } from './alerts.ts';

/** What an alert is, in words. */

/** Names are chosen by people outside: on one line, without what would turn the line around or hide in it, and not for ever. */
export function plain(name: string): string {
  const line = name
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  const characters = [...line];
  return characters.length > NAME_LENGTH_MAX ? `${characters.slice(0, NAME_LENGTH_MAX - 1).join('')}…` : line;
}

const NAME_LENGTH_MAX = 80;

interface Told {
  kind: AlertKindName;
  subject: { id: string; name: string };
  practice_group_id: string | null;
  details: AlertDetails;
}

const messages: Record<AlertKindName, (alert: Told & { name: string; group: string }) => string> = {
  webhook_failing: ({ subject, name, group, details: { since, count } }) =>
    `No delivery to the webhook ${subject.id} (${name})${group} has succeeded since ${since}; ${count} attempts have failed.`,
  webhook_disabled: ({ subject, name, group, details: { since, reason } }) =>
    `The webhook ${subject.id} (${name})${group} has been disabled since ${since}. ${reason ?? ''}`.trim(),
  key_expiring: ({ subject, name, group, details: { until } }) =>
    `The key ${subject.id} (${name})${group} expires at ${until}.`,
  key_unused: ({ subject, name, group, details: { since } }) =>
    `The key ${subject.id} (${name})${group} has not been used since ${since}.`,
  key_leaked: ({ subject, name, group, details: { since } }) =>
    `The key ${subject.id} (${name})${group} was reported as leaked at ${since}, and does not work any more.`,
  refusals_rising: ({ subject, name, details: { since, count, usual } }) =>
    `Of the partner ${subject.id} (${name}), ${count} calls were refused in the hour from ${since}; usual at that hour are ${usual}.`,
  partner_waiting: ({ subject, name, details: { since, reason } }) =>
    `The partner ${subject.id} (${name}) has been ${reason} since ${since}.`,
  deliveries_late: ({ subject, name, group, details: { since } }) =>
    subject.id === SERVICE
      ? `What was accepted at ${since} has not been taken up for delivery.`
      : `The webhook ${subject.id} (${name})${group} has not received what was queued for it at ${since}.`,
  ehr_down: ({ subject, name, details: { since } }) =>
    `The EHR connection of ${subject.id} (${name}) has been unhealthy since ${since}.`,
  changes_pending: ({ subject, name, details: { since, count } }) =>
    `The practice software of ${subject.id} (${name}) has said of ${count} changes, the first of ${since}, neither that they were applied nor that they were rejected.`,
  partner_stopped: ({ subject, name, group, details: { since } }) =>
    `The partner ${name} was stopped by its practice${group}, at ${since} (${subject.id}).`,
  agreement_ended: ({ subject, name, details: { until, count } }) =>
    `The agreement ${subject.id} (${name}) ends at ${until}; ${count === 1 ? '1 key works' : `${count} keys work`} under it.`,
};

export function messageOf(alert: Told): string {
  const group = alert.practice_group_id === null ? '' : ` for ${plain(alert.practice_group_id)}`;
  const reason = alert.details.reason === null ? null : plain(alert.details.reason);
  return messages[alert.kind]({
    ...alert,
    name: plain(alert.subject.name),
    group,
    details: { ...alert.details, reason },
  });
}

/** With what it means and what to do, for whoever reads it. */
export function presentAlert<A extends Told>(alert: A, reader: 'partner' | 'operator') {
  return { ...alert, message: messageOf(alert), remedy: remedyOf(alert.kind, reader) };
}

export function remedyOf(kind: AlertKindName, reader: 'partner' | 'operator'): string {
  const { remedy, operatorRemedy } = kindOf(kind);
  return reader === 'operator' ? (operatorRemedy ?? remedy) : remedy;
}
