import { z } from 'zod';
import { readers } from '../../access.ts';
import { alertKindNames, subjectTypes } from '../../alerts.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { timestamp } from '../../fields.ts';
import { QUEUED_COUNT_MAX } from '../../partner/webhooks.ts';
import { named } from '../named.ts';

/** What needs somebody beyond what alerts tell of. */
const attentionKinds = [...alertKindNames, 'deliveries_given_up', 'approval_pending'] as const;
export type AttentionKind = (typeof attentionKinds)[number];

/** Of a group; the rest is counted. */
export const ATTENTION_ITEMS_MAX = 50;

const attentionActions = ['pause', 'activate', 'retry_all', 'remind', 'open'] as const;
export type AttentionAction = (typeof attentionActions)[number];

const item = z
  .object({
    subject: z
      .object({
        type: z.enum([...subjectTypes, 'approval']),
        id: z.string(),
        name: z.string().meta({ description: 'For people: the host of a webhook, the label of a key.' }),
      })
      .meta({ id: 'AttentionSubject', description: 'What it is about.' }),
    alert_id: z.string().nullable().meta({ description: 'The alert that tells of it; null: there is none.' }),
    partner: named.nullable(),
    practice_group: named.nullable(),
    since: timestamp().nullable().meta({ description: 'Since when it has been so.' }),
    until: timestamp()
      .nullable()
      .meta({ description: 'Of a key, an agreement or an approval: when it ends.' }),
    count: z.int().nullable().meta({
      description:
        'Failed attempts, deliveries that were given up, refused calls within the hour, changes that were not answered, or keys under an agreement.',
    }),
    usual: z.int().nullable().meta({ description: 'Of refused calls: how many are usual at that hour.' }),
    queued: z
      .int()
      .nullable()
      .meta({
        description: `Of a webhook: deliveries that are not finished. ${QUEUED_COUNT_MAX} stands for that many or more.`,
      }),
    oldest_at: timestamp().nullable().meta({
      description: 'Of a webhook, or of changes: when the oldest of what waits began to wait.',
    }),
    message: z.string().meta({ description: 'What is the matter, in plain words.' }),
    action: z.enum(attentionActions).meta({
      description:
        'The one next step. pause, activate: the webhook (`PATCH /webhooks/{id}`). retry_all: `POST /webhooks/{id}/retry-failed`. remind: tell its partner again (`POST /alerts/{id}/remind`). open: look at the subject.',
    }),
  })
  .meta({ id: 'AttentionItem' });

export type AttentionItem = z.infer<typeof item>;

const group = z
  .object({
    kind: z.enum(attentionKinds),
    cause: z
      .string()
      .nullable()
      .meta({
        description:
          'Of webhooks that fail: what the last attempt came to, as a code; a status of the receiver as `status_503`. null where there is no cause to tell.',
        examples: ['tls_certificate_expired'],
      }),
    title: z.string().meta({ description: 'As a heading.' }),
    remedy: z.string().meta({ description: 'What to do about it.' }),
    severity: z.enum(['critical', 'warning', 'notice']).meta({
      description:
        'critical: something does not arrive, or a key got out. warning: it soon will not. notice: somebody waits.',
    }),
    count: z.int().min(1).meta({ description: 'How many there are, those beyond `items` included.' }),
    since: timestamp().nullable().meta({ description: 'Of the one that has been so for longest.' }),
    items: z.array(item).meta({ description: `The longest first; at most ${ATTENTION_ITEMS_MAX}.` }),
  })
  .meta({ id: 'AttentionGroup', description: 'What has the same cause.' });

export type AttentionGroup = z.infer<typeof group>;

export const getAttention = defineEndpoint({
  operationId: 'getAttention',
  method: 'GET',
  path: '/operator/v1/attention',
  tag: 'Alerts',
  summary: 'Get what needs attention',
  description:
    'What needs somebody now, by its cause, worst first: the alerts that are open, webhooks that have failed for five minutes, and webhooks with deliveries that were given up within a day. Alerts are looked for once a minute.',
  extension: true,
  access: { roles: readers },
  response: {
    status: 200,
    description: 'What needs attention at this moment.',
    body: z
      .object({
        data: z.array(group),
        count: z.int().min(0).meta({ description: 'How many things need attention, over all groups.' }),
        at: timestamp(),
      })
      .meta({ id: 'Attention' }),
  },
  problems: [],
});
