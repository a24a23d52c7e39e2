/** The contents of the site: what stands in the navigation, in which order, under which name. */
export interface Entry {
  path: string;
  title: string;
  /** The markdown file below docs/. Pages without one are made from the contract. */
  source?: string;
}

interface Section {
  title: string;
  entries: readonly Entry[];
}

const guide = (name: string, title: string): Entry => ({
  path: `/docs/guides/${name}`,
  title,
  source: `guides/${name}.md`,
});

const operating = (name: string, title: string): Entry => ({
  path: `/docs/operating/${name}`,
  title,
  source: `operating/${name}.md`,
});

export const contents: readonly Section[] = [
  { title: 'Getting started', entries: [{ path: '/docs', title: 'The first hour', source: 'index.md' }] },
  {
    title: 'Guides',
    entries: [
      guide('onboarding', 'Onboarding'),
      guide('environments', 'Environments and addresses'),
      guide('authentication', 'Authentication'),
      guide('acting-for-another-practice', 'Acting for another practice'),
      guide('updating-submission-types', 'Updating submission types'),
      guide('receiving-webhooks', 'Receiving webhooks'),
      guide('handling-errors', 'Handling errors'),
      guide('rate-limits', 'Rate limits'),
      guide('alerts', 'Alerts'),
      guide('portal', 'The portal'),
      guide('going-live', 'Going live'),
      guide('versioning', 'Versioning'),
      guide('for-practices', 'For practices'),
    ],
  },
  {
    title: 'Tools',
    entries: [
      guide('command-line', 'Command line'),
      guide('client-library', 'Client library'),
      guide('python', 'Python client'),
    ],
  },
  {
    title: 'Reference',
    entries: [
      { path: '/docs/api', title: 'Partner API' },
      { path: '/docs/events', title: 'Events', source: 'reference/events.md' },
      { path: '/docs/errors', title: 'Errors' },
      { path: '/docs/limits', title: 'Limits', source: 'reference/limits.md' },
    ],
  },
  {
    title: 'Operating Porter',
    entries: [
      operating('deploying', 'Deploying'),
      operating('settings', 'Settings'),
      operating('upgrading', 'Upgrading'),
      operating('backup-and-restore', 'Backup and restore'),
      operating('practice-software', 'Practice software'),
      operating('console', 'The console'),
      operating('signing-in', 'Signing in'),
      operating('practices', 'Practices in the console'),
      operating('answering-partners', 'Answering partners'),
      operating('keys', 'Keys'),
      operating('import-and-reconcile', 'Import and reconcile'),
      operating('agreements', 'Agreements and service levels'),
      operating('failover', 'Failover'),
      operating('rotating-secrets', 'Rotating secrets'),
      operating('watching', 'Watching'),
      operating('alerts', 'Alerts'),
      operating('what-to-do-when', 'What to do when'),
      operating('personal-data', 'Personal data'),
      operating('threat-model', 'Threat model'),
      operating('security-standards', 'Security standards'),
      operating('assurance', 'Assurance'),
      operating('hazards', 'Hazard log'),
      { path: '/docs/operator-api', title: 'Operator API' },
    ],
  },
];

export const entries: readonly Entry[] = contents.flatMap((section) => section.entries);

export function sectionOf(path: string): string | undefined {
  return contents.find((section) => section.entries.some((entry) => entry.path === path))?.title;
}
