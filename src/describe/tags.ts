/** A tag without a sentence here cannot be published: the documents refuse to be made. */
export const tagDescriptions: Record<string, string> = {
  'Practice groups': 'The practices and hubs that calls act for.',
  'Submission types': 'The categories of patient request that care navigation handles.',
  Networks: 'Practice groups whose keys may act for one another.',
  Partners: 'Companies on their way from application to verified partner.',
  Keys: "A partner's keys: issued, rotated and revoked. A key is shown once.",
  Forms: 'The forms that submission types may point to.',
  Assignees: 'The people and teams that requests may be handed to.',
  'Form submissions': 'What patients sent, counted by the day of their practice group.',
  Events: 'What happened in the practice groups, in order.',
  'EHR health': "How the connection to a practice group's record system is doing.",
  'Write to record': 'What is on its way into the record of a practice group.',
  Webhooks: 'Addresses that hear of events, and what became of each delivery.',
  Deliveries: 'Events on their way to the webhooks of partners.',
  Requests: 'Why a call was refused.',
  Operators: 'People and systems of the operator, each with a token and a role.',
  Audit: 'Every change and who made it, chained by hashes so that tampering shows.',
};
