import type { SearchHit } from '../api/generated.ts';

export type Kind = SearchHit['kind'];

/** What each kind of thing is called, and the page that shows one. */
const kinds: Record<Kind, { title: string; page: (id: string) => string }> = {
  partner: { title: 'Partners', page: (id) => `/partners/${id}` },
  practice_group: { title: 'Practices', page: (id) => `/practices/${id}` },
  network: { title: 'Networks', page: (id) => `/networks/${id}` },
  key: { title: 'Keys', page: (id) => `/keys/${id}` },
  webhook: { title: 'Webhooks', page: (id) => `/webhooks/${id}` },
  contact: { title: 'Contacts', page: () => '/partners' },
  event: { title: 'Events', page: (id) => `/events/${id}` },
  delivery: { title: 'Deliveries', page: (id) => `/deliveries/${id}` },
  refused_request: { title: 'Refused calls', page: (id) => `/refused/${id}` },
  change: { title: 'Changes', page: (id) => `/changes/${id}` },
  submission_type: { title: 'Submission types', page: () => '/practices' },
  write_to_record_job: { title: 'Write-to-record jobs', page: () => '/events' },
  agreement: { title: 'Agreements', page: () => '/partners' },
  alert: { title: 'Alerts', page: (id) => `/alerts/${id}` },
  operator: { title: 'Operators', page: () => '/settings' },
  subscription: { title: 'Subscriptions', page: (id) => `/subscriptions/${id}` },
};

/** The page of a practice, where its write-through is. */
export const writeThroughOf = (practiceId: string) => ({
  to: pageOf('practice_group', practiceId),
  search: { tab: 'details' },
});

export const titleOf = (kind: Kind): string => kinds[kind].title;
export const pageOf = (kind: Kind, id: string): string => kinds[kind].page(encodeURIComponent(id));
