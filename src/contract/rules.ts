import { Problem } from './problems.ts';
import { withCommas } from './wording.ts';

/** Webhooks of one partner for one practice group, and as many for all of them. */
export const WEBHOOKS_MAX = 20;
/** Webhooks of the operator's own. */
export const SUBSCRIPTIONS_MAX = 100;
/** Practice groups in one network. */
export const MEMBERS_MAX = 1_000;
/** Partners that a network names. */
export const NETWORK_PARTNERS_MAX = 1_000;
/** Contacts of one partner, and of the operator. */
export const CONTACTS_MAX = 20;
/** Events in one replay call. */
export const REPLAY_EVENTS_MAX = 100_000;

/**
 * The business rules: what 422 can be about. Each names the field to look at and says how to make it right. An endpoint
 * lists the rules that it checks, so its documentation cannot forget one.
 */
interface Rule {
  path: string;
  message: string;
}

const rules = {
  assignee_pair: {
    path: 'assignee_type',
    message: 'Set assignee_id and assignee_type both, or make both null.',
  },
  assignee_unknown: {
    path: 'assignee_id',
    message:
      'This practice group has no assignee with that ID and type. Use one that it has, or null for both.',
  },
  form_unknown: {
    path: 'form_id',
    message: 'This practice group has no form with that ID. Use one that it has, or null.',
  },
  external_url_name_without_url: {
    path: 'external_url_name',
    message: 'external_url_name needs an external_url. Send one, or make the name null.',
  },
  submission_type_unknown: {
    path: 'submission_type_id',
    message: 'This practice group has no submission type with that ID. Check the ID.',
  },
  submission_types_unknown: {
    path: 'submission_type_ids',
    message: 'This practice group does not have all of these submission types. Check the IDs.',
  },
  partner_unknown: { path: 'partner_id', message: 'There is no partner with that ID. Check the ID.' },
  partner_not_verified: {
    path: 'partner_id',
    message: 'The partner is not verified. Verify it first: keys are for verified partners only.',
  },
  practice_group_unknown: {
    path: 'practice_group_id',
    message: 'There is no practice group with that ID. Check the ID.',
  },
  members_unknown: {
    path: 'practice_group_ids',
    message: 'Not all of these practice groups exist. Check the IDs.',
  },
  partners_unknown: {
    path: 'partner_ids',
    message: 'Not all of these partners exist. Check the IDs.',
  },
  network_full: {
    path: 'practice_group_id',
    message: `The network has ${withCommas(MEMBERS_MAX)} practice groups, which is the maximum. Remove one first.`,
  },
  expiry_in_the_past: {
    path: 'expires_at',
    message: 'The expiry is in the past. Give a later time, or none.',
  },
  proof_incomplete: {
    path: 'proof',
    message:
      'mtls needs certificate_fingerprints, and private_key_jwt needs jwks. Send what the proof is checked against.',
  },
  agreement_unknown: {
    path: 'agreement_id',
    message: 'The partner has no agreement with that ID. Check the ID.',
  },
  agreement_ended: {
    path: 'agreement_id',
    message:
      'The agreement has ended, or none of the partner is in force. Record the one that follows first.',
  },
  signed_in_the_future: {
    path: 'signed_at',
    message: 'The agreement is not signed yet. Record it when it is.',
  },
  ends_before_signed: {
    path: 'ends_at',
    message: 'The agreement would end before it was signed. Give a later end, or none.',
  },
  webhook_target_refused: { path: 'url', message: 'The address must begin with https://.' },
  webhooks_max: {
    path: 'url',
    message: `You have ${WEBHOOKS_MAX} webhooks for this practice group, which is the maximum. Delete one first.`,
  },
  practice_software: {
    path: 'id',
    message: 'The software of the practice does not accept this change. Ask the practice.',
  },
  contacts_max: {
    path: 'email',
    message: `There are ${CONTACTS_MAX} contacts, which is the maximum. Remove one first.`,
  },
  subscriptions_max: {
    path: 'url',
    message: `There are ${SUBSCRIPTIONS_MAX} subscriptions, which is the maximum. Delete one first.`,
  },
  webhook_of_one_group: {
    path: 'practice_group_ids',
    message:
      'The webhook is for one practice group: only one for all can be narrowed. Create one with practice_groups: "all".',
  },
  webhook_group_unreached: {
    path: 'practice_group_ids',
    message:
      'You receive no events of hillview-hub. Leave it out, or have a key or a network for it first: GET /v1/me lists the practice groups that you may act for.',
  },
  event_unknown: {
    path: 'event_ids',
    message: 'This practice group has no event evt_0VkQ3yXbTm1c8Zr4Hn6Lp2WsE.',
  },
  staging_only: {
    path: 'event',
    message: 'Test events exist in staging only. Use your staging address and key.',
  },
  replay_too_large: {
    path: 'since',
    message: `More than ${withCommas(REPLAY_EVENTS_MAX)} events for this webhook were accepted since then. Replay a shorter time, or read the event feed.`,
  },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof rules;

/** Every rule by its name, for the page about 422. */
export const ruleEntries: [name: string, rule: Rule][] = Object.entries(rules);

/** `why` where the case says more than the rule does; `within` where the field stands, if not at the top. */
export function ruleBroken(rule: RuleName, why?: string, within: readonly (string | number)[] = []): Problem {
  const { path, message } = rules[rule];
  return new Problem('business_rule_violation', { rule, path: [...within, path], message: why ?? message });
}

const NAMED_MAX = 10;

/** Some of many, for a sentence: the first few, and how many more there are. */
export function naming(ids: readonly string[]): string {
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : '';
  return `${ids.slice(0, NAMED_MAX).join(', ')}${more}`;
}

/** The rules of a submission type, checked on the merged result. */
export const submissionTypeRules = [
  'assignee_pair',
  'assignee_unknown',
  'form_unknown',
  'external_url_name_without_url',
] as const satisfies RuleName[];
