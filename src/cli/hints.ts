import type { Connection } from './connection.ts';

/** Whom a command called as. */
export type Side = 'partner' | 'operator';

export interface Asked {
  /** Its words, such as `keys rotate`. */
  command: string;
  side: Side;
  connection: Connection;
}

interface Refusal {
  error: string | true;
  message: unknown;
  required_scopes?: readonly string[];
  required_roles?: readonly string[];
  rule?: string;
}

const nouns: Record<string, string> = {
  partners: 'partner',
  agreements: 'partner',
  sla: 'partner',
  keys: 'key',
  networks: 'network',
  deliveries: 'delivery',
  changes: 'change',
  webhooks: 'webhook',
  types: 'submission type',
  groups: 'practice group',
  approvals: 'approval',
  operators: 'operator',
  events: 'event',
};

/** Which command lists them, where it is not that of the same word. */
const lists: Record<string, string> = { agreements: 'partners', sla: 'partners' };

/** Of the conflicts that a command can meet, the one that another command ends, by what its message speaks of. The messages of others say themselves what to do. */
const conflicts: Record<string, readonly [about: string, hint: string]> = {
  'operators revoke': [
    'the last admin',
    'Create another admin first: porter operators create --role admin --name <name>',
  ],
  'partners verify': [
    'who is applied',
    'A partner is verified after its agreement: porter partners sign-agreement <partner_id>',
  ],
  'deliveries retry': ['is disabled', 'Activate its webhook first: porter webhooks activate <webhook_id>'],
  listen: ['streams open', 'End another `porter listen` that uses this key.'],
};

/** What the rules of the API leave to a client: which command comes next. */
const rules: Record<string, string> = {
  partner_unknown: 'See `porter partners list`.',
  partners_unknown: 'See `porter partners list`.',
  partner_not_verified: 'Verify it: porter partners verify <partner_id>',
  practice_group_unknown: 'See `porter groups list`.',
  members_unknown: 'See `porter groups list`.',
  agreement_unknown: 'See `porter agreements list <partner_id>`.',
  agreement_ended: 'Record it: porter agreements add --help',
  event_unknown: 'Check the ID. An operator finds events with `porter events list`.',
  staging_only:
    'Name the staging service: --url <address> with its key in PORTER_KEY, or --profile <name> with a profile for it.',
};

/** The refusal says it all: the remedy of the catalogue, which is for every cause of its code, would be wrong. */
const NONE = '';

/** What to do about a refusal at a command line, where the API's own remedy speaks of headers and paths. */
const hints: Record<string, (asked: Asked, refusal: Refusal) => string | undefined> = {
  not_found({ command, connection }) {
    const [word = ''] = command.split(' ');
    if (word === 'resend')
      return `There is no such event or webhook of yours in ${connection.group}. Check the IDs, or name another practice group with --group.`;
    if (command === 'networks add')
      return 'There is no such network, or no such practice group. See `porter networks list` and `porter groups list`.';
    if (command === 'networks remove')
      return 'There is no such network, or this practice group is not one of it. See `porter networks list`.';
    if (command === 'approvals collect')
      return 'There is no such approval, or somebody else asked for it, who collects it. See `porter approvals list`.';
    const noun = nouns[word];
    return noun && `There is no such ${noun}. See \`porter ${lists[word] ?? word} list\`.`;
  },
  invalid_credentials: ({ side, connection: { url, sources } }) =>
    side === 'operator'
      ? `It is that of ${sources.operatorToken}. Is it whole, and is it for ${url}?`
      : `It is that of ${sources.key}. Is it whole, and is it for ${url}?`,
  insufficient_permissions: (
    { side, connection: { sources } },
    { required_roles = [], required_scopes = [] },
  ) =>
    side === 'operator'
      ? `Use a token with one of the roles ${required_roles.join(', ')}. This one is that of ${sources.operatorToken}.`
      : `Ask support for a key with the scope ${required_scopes.join(', ')}. This one is that of ${sources.key}.`,
  forbidden: ({ side, connection: { group, sources } }) =>
    side === 'operator'
      ? undefined
      : `The key is that of ${sources.key}, the practice group is ${group}. Name another with --group, or ask support to put both into one network.`,
  conflict({ command }, { message }) {
    const [about, hint] = conflicts[command] ?? [];
    return about !== undefined && String(message).includes(about) ? hint : NONE;
  },
  business_rule_violation: (_asked, { rule = '' }) => (Object.hasOwn(rules, rule) ? rules[rule] : undefined),
  cursor_gone: ({ command }) =>
    `The service was restored from a backup, or another server took over. Run \`porter ${command}\` again: it begins with what happens from then on. What happened before is at GET /v1/events.`,
};

export function hintFor(asked: Asked, refusal: Refusal): string | undefined {
  const code = String(refusal.error);
  return Object.hasOwn(hints, code) ? hints[code]?.(asked, refusal) : undefined;
}
