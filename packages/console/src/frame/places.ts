/** The rooms of the console, in the order of the menu; `key` after `g` goes there. */
export interface Place {
  title: string;
  to: string;
  key?: string;
}

export const places: readonly Place[] = [
  { title: 'Now', to: '/', key: 'n' },
  { title: 'Partners', to: '/partners', key: 'p' },
  { title: 'Practices', to: '/practices', key: 't' },
  { title: 'Networks', to: '/networks', key: 'k' },
  { title: 'Webhooks', to: '/webhooks', key: 'w' },
  { title: 'Events', to: '/events', key: 'e' },
  { title: 'Refused calls', to: '/refused', key: 'r' },
  { title: 'Changes', to: '/changes', key: 'c' },
  { title: 'Alerts', to: '/alerts', key: 'l' },
  { title: 'Audit', to: '/audit', key: 'a' },
  { title: 'Settings', to: '/settings', key: 's' },
];
