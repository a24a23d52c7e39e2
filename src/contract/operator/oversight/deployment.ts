import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { timestamp } from '../../fields.ts';
import { LIVE_STREAMS_OF_OPERATOR_MAX, liveNews, liveText } from '../../live.ts';

const setting = z
  .object({
    name: z.string().meta({ examples: ['PORTER_ENVIRONMENT'] }),
    value: z.string().nullable().meta({
      description:
        'What is in force on the node that answers; null: nothing is set and there is no default, or it is a secret.',
    }),
    source: z.enum(['environment', 'default', 'made']).meta({
      description: 'environment: it was set. made: the service made one of its own, as a master key.',
    }),
    secret: z.boolean().meta({ description: 'Whether there is one is told, and not what it is.' }),
    description: z.string().meta({ description: 'What it means.' }),
  })
  .meta({ id: 'Setting' });

export type Setting = z.infer<typeof setting>;

const tag = 'Deployment';

export const listSettings = defineEndpoint({
  operationId: 'listSettings',
  method: 'GET',
  path: '/operator/v1/settings',
  tag,
  summary: 'List settings',
  description:
    'The settings in force on the node that answers, with what each means. Secrets, and the passwords in addresses, are not shown.',
  extension: true,
  access: { roles: readers },
  response: {
    status: 200,
    description: 'All settings.',
    body: z
      .object({
        environment: z.enum(['staging', 'production']),
        version: z.string(),
        data: z.array(setting),
      })
      .meta({ id: 'Settings' }),
  },
  problems: [],
});

const node = z
  .object({
    id: z.string(),
    name: z.string().meta({ description: 'The host and the process.', examples: ['porter-7c9f:1204'] }),
    version: z.string(),
    role: z.enum(['all', 'api', 'worker']),
    started_at: timestamp(),
    seen_at: timestamp().meta({ description: 'When it last gave a sign of life.' }),
    clock_skew_ms: z.int().meta({
      description:
        'By how much its clock is ahead of the clock of the database. Beyond 3,000 either way it delivers nothing.',
    }),
    calls_per_minute: z
      .number()
      .meta({ description: 'Calls of partners that it answered, in the last minute.' }),
    deliveries_per_minute: z.number().meta({ description: 'Attempts that it made, in the last minute.' }),
    share_percent: z
      .number()
      .nullable()
      .meta({ description: 'Its part of all calls and attempts of that minute; null: there were none.' }),
    answering: z.boolean().meta({ description: 'It is the one that answers this call.' }),
  })
  .meta({ id: 'Node' });

export type Node = z.infer<typeof node>;

export const listNodes = defineEndpoint({
  operationId: 'listNodes',
  method: 'GET',
  path: '/operator/v1/nodes',
  tag,
  summary: 'List nodes',
  description: 'The processes of this service that have given a sign of life within the last minute.',
  extension: true,
  access: { roles: readers },
  response: {
    status: 200,
    description: 'The nodes, the one that started first first.',
    body: z.object({ data: z.array(node), count: z.int() }).meta({ id: 'Nodes' }),
  },
  problems: [],
});

export const liveKinds = [
  'alerts',
  'webhooks',
  'figures',
  'changes',
  'approvals',
  'partners',
  'nodes',
] as const;
export type LiveKind = (typeof liveKinds)[number];

export const streamLive = defineEndpoint({
  operationId: 'streamLive',
  method: 'GET',
  path: '/operator/v1/live',
  tag,
  summary: 'Stream what has changed',
  description: `${liveText('in the deployment')} At most ${LIVE_STREAMS_OF_OPERATOR_MAX} may be open at once for one operator on a node.`,
  extension: true,
  access: { roles: readers },
  response: {
    status: 200,
    description: 'What has changed, as it changes.',
    stream: true,
    body: liveNews(
      'LiveNews',
      liveKinds,
      'alerts: one began or ended. webhooks: one was changed, or began to fail or succeed. figures: a few seconds have passed. changes: one was made, applied or rejected. approvals: one was asked for or decided. partners: a partner, a key, a practice group or a network was changed. nodes: one came or went.',
    ),
  },
  problems: ['conflict'],
});
