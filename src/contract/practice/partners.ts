import { z } from 'zod';
import { scopeNames } from '../access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId, timestamp } from '../fields.ts';
import { named } from '../operator/named.ts';
import { pageOf, pageQuery, shortPages } from '../page.ts';
import { changeStates } from '../partner/changes.ts';
import { stopFields, stopReason } from '../stops.ts';

/** What people of a practice see and do who were invited into the console: of their own practice group alone. */

const way = z
  .object({
    network: named
      .nullable()
      .meta({ description: 'Null: by a key that was issued for the practice itself.' }),
    scopes: z.array(z.enum(scopeNames)),
    since: timestamp(),
  })
  .meta({ id: 'PartnerWay' });

const partnerStop = z.object(stopFields).meta({ id: 'PartnerStop' });

const partnerFields = {
  partner: named,
  ways: z.array(way).meta({
    description:
      'How it reaches the practice, or would if it were not stopped. None: it has no key that works any more, or is suspended.',
  }),
  last_call_at: timestamp()
    .nullable()
    .meta({ description: 'When it last read or changed something of the practice; null: not lately.' }),
  stop: partnerStop.nullable().meta({ description: 'The stop in force.' }),
};

const reachingPartner = z
  .object(partnerFields)
  .meta({ id: 'ReachingPartner', description: 'A partner that reaches the practice, or did.' });

export type ReachingPartner = z.infer<typeof reachingPartner>;

/** Of deliveries that wait: this many stands for that many or more. */
export const WAITING_COUNT_MAX = 1_000;

const partnerInDetail = z
  .object({
    ...partnerFields,
    calls_last_day: z.int().meta({ description: 'Within the last 24 hours, for this practice.' }),
    receivers: z.int().meta({ description: 'Addresses to which events of the practice are sent.' }),
    deliveries_waiting: z.int().meta({
      description: `Of this practice, on their way to it; ${WAITING_COUNT_MAX} stands for that many or more.`,
    }),
    stops: z.array(partnerStop).meta({ description: 'Those that were lifted, newest first, at most 20.' }),
  })
  .meta({ id: 'ReachingPartnerInDetail' });

const activityKinds = ['read', 'changed', 'received'] as const;
export type ActivityKind = (typeof activityKinds)[number];

const activity = z
  .object({
    id: z.string(),
    kind: z.enum(activityKinds),
    at: timestamp().meta({
      description:
        'Its place in the list: when it was last read, when it was changed, or when the event that was received was accepted.',
    }),
    first_at: timestamp().meta({ description: 'The first call, or attempt to deliver.' }),
    last_at: timestamp().meta({ description: 'The last.' }),
    count: z.int().meta({ description: 'How many, between the two.' }),
    operation: z
      .string()
      .nullable()
      .meta({ description: 'Of a call.', examples: ['listEvents'] }),
    event: z.string().nullable().meta({ description: 'Of what was received.' }),
    object: z.string().nullable(),
    object_id: z.string().nullable(),
    title: z.string().nullable().meta({ description: 'What the practice calls the object.' }),
    before: z.unknown().meta({ description: 'Of a change: the changed fields as they were.' }),
    after: z.unknown(),
    state: z.enum(changeStates).nullable().meta({
      description: 'Of a change: whether the practice software has taken it.',
    }),
  })
  .meta({ id: 'PartnerActivity' });

export type PartnerActivity = z.infer<typeof activity>;

const tag = 'My practice';
const byId = z.strictObject({ id: recordId() });
const access = { guests: 'practice' } as const;

export const listReachingPartners = defineEndpoint({
  operationId: 'listReachingPartners',
  method: 'GET',
  path: '/practice/v1/partners',
  tag,
  summary: 'List the partners that reach the practice',
  description:
    'By name: those that hold a key for the practice, or one that reaches it through a network, those whose key for it has ended, and those that it has stopped.',
  extension: true,
  access,
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(reachingPartner) },
  problems: [],
});

export const getReachingPartner = defineEndpoint({
  operationId: 'getReachingPartner',
  method: 'GET',
  path: '/practice/v1/partners/{id}',
  tag,
  summary: 'Get a partner that reaches the practice',
  extension: true,
  access,
  params: byId,
  response: {
    status: 200,
    description: 'The partner, as far as it concerns the practice.',
    body: partnerInDetail,
  },
  problems: ['not_found'],
});

export const listPartnerActivity = defineEndpoint({
  operationId: 'listPartnerActivity',
  method: 'GET',
  path: '/practice/v1/partners/{id}/activity',
  tag,
  summary: 'List what a partner read, changed and received',
  description: `Of this practice, newest first by \`at\`. ${shortPages}`,
  extension: true,
  access,
  params: byId,
  query: z.strictObject({ ...pageQuery, kind: z.enum(activityKinds).optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(activity) },
  problems: ['not_found'],
});

export const stopPartner = defineEndpoint({
  operationId: 'stopPartner',
  method: 'PUT',
  path: '/practice/v1/partners/{id}/stop',
  tag,
  summary: 'Stop a partner',
  description:
    'From the answer on, which takes about a second, no call of the partner for this practice is let in, on any node, and no delivery to it begins. What waits to be delivered is withheld. The operator is told. Stopping twice is no error: the stop in force is the answer.',
  extension: true,
  access,
  params: byId,
  body: z.strictObject({ reason: stopReason() }),
  response: { status: 200, description: 'The stop.', body: partnerStop },
  problems: ['not_found', 'conflict'],
});

export const resumePartner = defineEndpoint({
  operationId: 'resumePartner',
  method: 'DELETE',
  path: '/practice/v1/partners/{id}/stop',
  tag,
  summary: 'Let a stopped partner go on',
  description:
    'It may call again at once, and what was withheld is sent, for as long as events are kept. What happened while it was stopped is not sent by itself.',
  extension: true,
  access,
  params: byId,
  response: { status: 204, description: 'The partner is not stopped, or not any more.' },
  problems: ['not_found'],
});
