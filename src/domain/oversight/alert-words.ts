import { type AlertDetails, type AlertKindName, kindOf, type SubjectType } from '../../contract/alerts.ts';
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
  subject: { type: SubjectType; id: string; name: string };
  practice_group_id: string | null;
  partner_name: string | null;
  group_name: string | null;
  details: AlertDetails;
}

type Reader = 'partner' | 'operator';

/** What deliveries go to, in words. */
export function webhookOf(type: SubjectType): string {
  if (type === 'write_through') return 'the write-through address';
  return type === 'subscription' ? 'the subscription' : 'the webhook';
}

const capital = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export const attemptsFailed = (count: number | null) =>
  count === 1 ? '1 attempt has failed' : `${count} attempts have failed`;

/** `whose`: of whom, for which practice. `practice`: what it is called. */
const messages: Record<
  AlertKindName,
  (alert: Told & { name: string; whose: string; practice: string }) => string
> = {
  webhook_failing: ({ subject, name, whose, details: { since, count } }) =>
    `No delivery to ${webhookOf(subject.type)} ${subject.id} (${name})${whose} has succeeded since ${since}; ${attemptsFailed(count)}.`,
  webhook_disabled: ({ subject, name, whose, details: { since, reason } }) =>
    `${capital(webhookOf(subject.type))} ${subject.id} (${name})${whose} has been disabled since ${since}. ${reason ?? ''}`.trim(),
  key_expiring: ({ subject, name, whose, details: { until } }) =>
    `The key ${subject.id} (${name})${whose} expires at ${until}.`,
  key_unused: ({ subject, name, whose, details: { since } }) =>
    `The key ${subject.id} (${name})${whose} has not been used since ${since}.`,
  key_leaked: ({ subject, name, whose, details: { since } }) =>
    `The key ${subject.id} (${name})${whose} was reported as leaked at ${since}, and does not work any more.`,
  refusals_rising: ({ subject, name, details: { since, count, usual } }) =>
    `Of the partner ${subject.id} (${name}), ${count} calls were refused in the hour from ${since}; usual at that hour are ${usual}.`,
  partner_waiting: ({ subject, name, details: { since, reason } }) =>
    `The partner ${subject.id} (${name}) has been ${reason} since ${since}.`,
  deliveries_late: ({ subject, name, whose, details: { since } }) =>
    subject.id === SERVICE
      ? `What was accepted at ${since} has not been taken up for delivery.`
      : `${capital(webhookOf(subject.type))} ${subject.id} (${name})${whose} has not received what was queued for it at ${since}.`,
  ehr_down: ({ subject, name, details: { since } }) =>
    `The EHR connection of ${subject.id} (${name}) has been unhealthy since ${since}.`,
  changes_pending: ({ subject, name, details: { since, count } }) =>
    `The practice software of ${subject.id} (${name}) has said ${count === 1 ? `of 1 change, of ${since}, neither that it was applied nor that it was rejected` : `of ${count} changes, the first of ${since}, neither that they were applied nor that they were rejected`}.`,
  partner_stopped: ({ subject, name, practice, details: { since } }) =>
    `The partner ${name} was stopped by ${practice}, at ${since} (${subject.id}).`,
  agreement_ended: ({ subject, name, details: { until, count } }) =>
    `The agreement ${subject.id} (${name}) ends at ${until}; ${count === 1 ? '1 key works' : `${count} keys work`} under it.`,
};

/** A partner knows whose it is, and its practices by their IDs. */
function namesIn({ subject, practice_group_id: id, partner_name, group_name }: Told, reader: Reader) {
  const isOperator = reader === 'operator';
  const known = plain(id ?? '');
  const practice = isOperator && group_name !== null ? `${plain(group_name)} (${known})` : known;
  const isNamed = !isOperator || partner_name === null || partner_name === subject.name;
  const partner = isNamed ? '' : ` of ${plain(partner_name)}`;
  return {
    name: plain(subject.name),
    whose: `${partner}${id === null || id === subject.id ? '' : ` for ${practice}`}`,
    practice,
  };
}

export function messageOf(alert: Told, reader: Reader): string {
  const { details } = alert;
  const reason = details.reason === null ? null : plain(details.reason);
  return messages[alert.kind]({ ...alert, ...namesIn(alert, reader), details: { ...details, reason } });
}

/** What an alert is about, and whose that is. */
export function subjectOf(alert: Told, reader: Reader): string {
  const { name, whose } = namesIn(alert, reader);
  return `${alert.subject.id} (${name})${whose}`;
}

/** With what it means and what to do, for whoever reads it. */
export function presentAlert<A extends Told>(
  alert: A,
  reader: Reader,
): Omit<A, 'partner_name' | 'group_name'> & { message: string; remedy: string } {
  const { partner_name: _partner, group_name: _group, ...shown } = alert;
  return { ...shown, message: messageOf(alert, reader), remedy: remedyOf(alert.kind, reader) };
}

export function remedyOf(kind: AlertKindName, reader: Reader): string {
  const { remedy, operatorRemedy } = kindOf(kind);
  return reader === 'operator' ? (operatorRemedy ?? remedy) : remedy;
}
