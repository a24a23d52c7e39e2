import { z } from 'zod';
import { timestamp } from './fields.ts';

/** Whom an alert is told to. What concerns a partner is told to the operator as well. */
type ToldTo = 'partner' | 'operator';

interface AlertKind {
  subject: SubjectType;
  toldTo: ToldTo;
  /** What it is, as a heading. */
  title: string;
  /** Of what ended: as a heading. */
  over: string;
  /** What to do about it; the second where the operator does something else than the partner. */
  remedy: string;
  operatorRemedy?: string;
  /** It does not wait until more has gathered, and nobody can leave it out. */
  urgent?: true;
}

/**
 * The kinds of alerts. `domain/oversight/alerts.ts` decides when an alert of each kind begins and ends. Partners and preferences use the names, so a
 * published name stays.
 */
const alertKinds = {
  webhook_failing: {
    subject: 'webhook',
    toldTo: 'partner',
    title: 'A webhook has been failing for an hour',
    over: 'A webhook that failed is well again',
    remedy:
      'Read the diagnosis of the last attempts in its delivery log, and mend the receiver. What is queued is sent by itself; after five days without a success the webhook is disabled.',
    operatorRemedy:
      'The partner is told; a subscription and a write-through lead to your own software. If many fail at once, look at your own way out first.',
  },
  webhook_disabled: {
    subject: 'webhook',
    toldTo: 'partner',
    title: 'A webhook was disabled',
    over: 'A webhook that was disabled is active again',
    remedy:
      'Mend the receiver, then set the status of the webhook to active: what is queued is sent. Replay what is missing after that.',
    operatorRemedy: 'The partner is told. Nothing is lost within the retention time.',
  },
  key_expiring: {
    subject: 'key',
    toldTo: 'partner',
    title: 'A key is about to expire',
    over: 'A key that was about to expire is looked after, or has expired',
    remedy: 'Ask support to rotate it, and put the new key into use before that.',
    operatorRemedy: 'Rotate the key with an overlap, or set a later expires_at.',
  },
  key_unused: {
    subject: 'key',
    toldTo: 'partner',
    title: 'A key has not been used for 90 days',
    over: 'A key that was not used is in use, or is over',
    remedy: 'If nobody needs it, have it revoked. Keep it if a webhook rests on it alone.',
    operatorRemedy: 'Ask the partner whether it is needed, and revoke it if not.',
  },
  key_leaked: {
    subject: 'key',
    toldTo: 'partner',
    title: 'A key was reported as leaked and has been revoked',
    over: 'A leaked key is over',
    remedy:
      'Ask support for a new key, find out how this one got out, and look through what was done with it since.',
    operatorRemedy: 'Issue a new key when the partner asks for it, and look through the use of this one.',
    urgent: true,
  },
  refusals_rising: {
    subject: 'partner',
    toldTo: 'partner',
    title: 'Many more calls are refused than usual',
    over: 'Refusals are back to what is usual',
    remedy: 'Ask why with GET /v1/requests/{request_id}, and mend the client.',
    operatorRemedy: 'Look at the refused requests of the partner: they say why.',
  },
  partner_waiting: {
    subject: 'partner',
    toldTo: 'operator',
    title: 'A partner is waiting for the next step of its onboarding',
    over: 'A partner that was waiting has gone on',
    remedy: 'Take the next step: record the signed agreement, or verify the partner.',
  },
  deliveries_late: {
    subject: 'webhook',
    toldTo: 'partner',
    title: 'Deliveries are late',
    over: 'Deliveries are on time again',
    remedy:
      'Look into the delivery log of the webhook: an event that is refused again and again holds up those about the same object, and a slow receiver all of them.',
    operatorRemedy:
      'Where it is the whole service, see whether a worker runs and reaches the database. Where it is one webhook, its partner is told.',
  },
  ehr_down: {
    subject: 'practice_group',
    toldTo: 'operator',
    title: 'The EHR connection of a practice has been down for a long time',
    over: 'The EHR connection of a practice is up again',
    remedy: 'Look after the connection, or tell the practice.',
  },
  changes_pending: {
    subject: 'practice_group',
    toldTo: 'operator',
    title: 'Changes have not reached the practice software for a long time',
    over: 'Changes reach the practice software again',
    remedy:
      'See whether the practice software reads the feed of changes, or receives them, and says what became of each: applied or rejected.',
  },
  partner_stopped: {
    subject: 'stop',
    toldTo: 'operator',
    title: 'A practice has stopped a partner',
    over: 'A practice lets a partner go on',
    remedy:
      'Ask the practice what happened, and tell the partner. The practice lifts the stop itself; an admin may do so for it, with a reason.',
    urgent: true,
  },
  agreement_ended: {
    subject: 'agreement',
    toldTo: 'partner',
    title: 'An agreement ends, and keys are in use under it',
    over: 'An agreement that was to end is settled',
    remedy: 'Agree with support on what follows. Your keys go on working on its terms until then.',
    operatorRemedy:
      'Give the agreement a later end, issue its keys under a newer one (PATCH of a key, agreement_id), or revoke them. They go on working until then.',
  },
} as const satisfies Record<string, AlertKind>;

export type AlertKindName = keyof typeof alertKinds;
export const alertKindNames = Object.keys(alertKinds) as [AlertKindName, ...AlertKindName[]];
export const kindOf = (name: AlertKindName): AlertKind => alertKinds[name];
/** Those that partners are told of. */
export const partnerKindNames = alertKindNames.filter((name) => kindOf(name).toldTo === 'partner') as [
  AlertKindName,
  ...AlertKindName[],
];

export const subjectTypes = [
  'webhook',
  'subscription',
  'write_through',
  'key',
  'partner',
  'practice_group',
  'agreement',
  'stop',
  'service',
] as const;
export type SubjectType = (typeof subjectTypes)[number];

/** Why an alert ended. */
export const endings = {
  recovered: 'What it was about is well again.',
  disabled: 'The webhook was disabled; another alert tells of that.',
  paused: 'The webhook was paused.',
  withheld: 'The partner may not receive the events of the practice group any more.',
  replaced: 'The key was rotated, revoked or given another end.',
  expired: 'The key has expired.',
  lifted: 'The stop was lifted.',
  settled: 'The agreement was given another end, or no key works under it any more.',
  gone: 'What it was about is not there any more.',
  told: 'There was nothing to wait for: it was over when it was told.',
} as const;

export type Ending = keyof typeof endings;
const endingNames = Object.keys(endings) as [Ending, ...Ending[]];

const details = z
  .object({
    since: timestamp().nullable().meta({ description: 'Since when it has been so.' }),
    until: timestamp().nullable().meta({ description: 'Of a key or an agreement: when it ends.' }),
    count: z.int().nullable().meta({
      description:
        'Failed attempts, refused calls within the hour, changes that wait, or keys that work under an agreement.',
    }),
    usual: z.int().nullable().meta({ description: 'Of refused calls: how many are usual at that hour.' }),
    reason: z.string().nullable().meta({
      description:
        'Why the webhook is disabled or withheld, or why the practice stopped the partner; null: not given.',
    }),
  })
  .meta({ id: 'AlertDetails', description: 'What was known when it began; null where it does not apply.' });

export type AlertDetails = z.infer<typeof details>;

/** What partners and operators see of an alert. */
export const alertFields = {
  id: z.string().meta({ description: 'The ID of the alert.' }),
  kind: z.enum(alertKindNames).meta({ description: 'The kind of alert.' }),
  subject: z
    .object({
      type: z.enum(subjectTypes).meta({ description: 'The type of the object.' }),
      id: z.string().meta({ description: 'The ID of the object.' }),
      name: z.string().meta({ description: 'For people: the host of a webhook, the label of a key.' }),
    })
    .meta({ id: 'AlertSubject', description: 'What it is about.' })
    .meta({ description: 'The object that the alert is about.' }),
  practice_group_id: z
    .string()
    .nullable()
    .meta({ description: 'The practice group concerned; null: it concerns none alone.' }),
  message: z.string().meta({ description: 'What is the matter, in plain words.' }),
  remedy: z.string().meta({ description: 'What to do about it.' }),
  details: details.meta({ description: 'Figures and moments; each is null where it does not apply.' }),
  began_at: timestamp().meta({ description: 'When the alert began.' }),
  ended_at: timestamp().nullable().meta({ description: 'null: it is open.' }),
  ended_because: z
    .enum(endingNames)
    .nullable()
    .meta({ description: 'Why the alert ended; null: it is open.' }),
};

const yesOrNo = z
  .enum(['true', 'false'])
  .optional()
  .meta({ description: '`true`: those that are open; `false`: those that have ended.' });

export const alertQuery = {
  open: yesOrNo,
  kind: z.enum(alertKindNames).optional().meta({ description: 'Only alerts of this kind.' }),
};
