import type { EventName, PartnerActivity, ReachingPartner } from '../../api/generated.ts';
import { eventTitles } from '../events/event-words.ts';

/** How a practice is told what partners may do and did: in the words of whoever works there. */

type Way = ReachingPartner['ways'][number];
type Scope = Way['scopes'][number];

/** After "may". */
const scopeWords: Record<Scope, string> = {
  'practice-groups:read': 'see the name, address and networks of your practice',
  'submission-types:read': 'see the kinds of request that you take',
  'submission-types:write': 'change the kinds of request that you take, for instance close one for the day',
  'events:read':
    'learn what happens: appointments, forms, prescriptions, patients, and whether your record system answers',
  'webhooks:read': 'see where it is told of what happens',
  'webhooks:write': 'choose where it is told of what happens',
};
const scopeOrder = Object.keys(scopeWords) as Scope[];

/** What a partner may do by any of these ways, each once. */
export const toAbilities = (ways: readonly Way[]): string[] =>
  scopeOrder
    .filter((scope) => ways.some(({ scopes }) => scopes.includes(scope)))
    .map((scope) => scopeWords[scope]);

/** By which network, after "It reaches you". */
export const toWay = ({ network }: Way): string =>
  network ? `through the network ${network.name}` : 'with a key that was issued for your practice';

/** What it asked for, after its name. */
const readWords: Record<string, string> = {
  listPracticeGroups: 'looked up your practice',
  listSubmissionTypes: 'looked at the kinds of request that you take',
  getSubmissionType: 'looked at a kind of request',
  listSubmissionTypeChanges: 'looked at its own changes of a kind of request',
  listEvents: 'read what happened at your practice',
  listPortalEvents: 'read what happened at your practice',
  streamEvents: 'read what happened at your practice, as it happened',
  listWebhooks: 'looked at where it is told of what happens',
  getWebhook: 'looked at where it is told of what happens',
  listWebhookDeliveries: 'looked at what it was sent',
  getWebhookDelivery: 'looked at what it was sent',
};

const times = (count: number): string => (count === 1 ? '' : `, ${count.toLocaleString('en-GB')} times`);

/** What a line of the timeline says, before what it is about. */
export function toDone({ kind, operation, event, count }: PartnerActivity): string {
  if (kind === 'changed') return 'changed a kind of request';
  if (kind === 'received') return `was sent: ${eventTitles[event as EventName] ?? event}`;
  return `${readWords[operation ?? ''] ?? 'asked for something else'}${times(count)}`;
}

export const kindTitles: Record<PartnerActivity['kind'], string> = {
  read: 'read',
  changed: 'changed',
  received: 'was sent',
};

export const toCount = (count: number, one: string, more = `${one}s`): string =>
  `${count.toLocaleString('en-GB')} ${count === 1 ? one : more}`;
