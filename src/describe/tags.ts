/** A tag without a sentence here cannot be published: the documents refuse to be made. */
export const tagDescriptions: Record<string, string> = {
  'Practice groups': 'The practices and hubs that calls act for.',
  'Submission types': 'The categories of patient request that care navigation handles.',
  Networks: 'Practice groups whose keys may act for one another.',
  Partners: 'Partners and their onboarding: application, signed agreement, verification.',
  Keys: "A partner's API keys: issue, rotate and revoke them. A key is shown once.",
  Forms: 'The forms that submission types may point to.',
  Assignees: 'The people and teams that requests may be assigned to.',
  'Form submissions': 'Forms that patients submitted, counted by the day of their practice group.',
  Events: 'What happened in practice groups, in order.',
  'EHR health': 'The health of the EHR connection of each practice group.',
  'Write to record': 'Write-to-record jobs: what is to be written to the EHR of a practice group.',
  Webhooks: 'Addresses that receive events, and the deliveries to each.',
  Deliveries: 'Deliveries of events to the webhooks of partners.',
  Requests: 'Refused calls, each with its reason.',
  Alerts:
    'What needs looking after: webhooks that fail, keys that expire, calls that are refused, deliveries that are late.',
  Contacts: 'Who is told of alerts by e-mail, and of which.',
  Operators: 'People and systems of the operator, each with a token and a role.',
  'Access log': 'Who read or received what, chained by hashes like the audit.',
  Erasures: 'Objects whose identifiers were taken out of everything that is kept.',
  Audit: 'Every change and who made it, chained by hashes so that tampering shows.',
};
