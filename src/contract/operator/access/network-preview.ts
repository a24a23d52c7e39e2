import { z } from 'zod';
import { readers, scopeNames } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId } from '../../fields.ts';
import { MEMBERS_MAX } from '../../rules.ts';
import { named } from '../named.ts';
import { networkCaps } from './networks.ts';

/** Of each list; the rest is counted. */
export const PREVIEW_MAX = 500;
/** Practice groups that are named for each. */
export const PREVIEW_GROUPS_MAX = 20;

const reach = z
  .object({
    id: z.string(),
    name: z.string().meta({ description: 'The label of a key, or its ending; the host of a webhook.' }),
    partner: named,
    home: named.nullable().meta({
      description: 'The practice group of the key; null for a webhook for all practice groups.',
    }),
    practice_groups: z
      .array(named.extend({ scopes: z.array(z.enum(scopeNames)) }).meta({ id: 'ReachedPracticeGroup' }))
      .meta({
        description: `What it gains or loses there; of a webhook, \`events:read\`. At most the first ${PREVIEW_GROUPS_MAX}.`,
      }),
    practice_group_count: z.int(),
  })
  .meta({ id: 'ReachDifference' });

export type ReachDifference = z.infer<typeof reach>;

const both = z
  .object({
    keys: z.array(reach),
    key_count: z.int(),
    webhooks: z.array(reach),
    webhook_count: z.int(),
  })
  .meta({ id: 'ReachDifferences', description: `At most ${PREVIEW_MAX} of each; the rest is counted.` });

export const previewNetwork = defineEndpoint({
  operationId: 'previewNetwork',
  method: 'POST',
  path: '/operator/v1/networks/preview',
  tag: 'Networks',
  summary: 'Preview a network',
  description:
    'Which keys and webhooks would gain or lose reach if the network were as described, by the rule by which calls are let in. Nothing is changed. With `id`, the network that is there is changed, and what is left out stays as it is; without, it would be a new one. Other networks, which may grant the same, count.',
  extension: true,
  access: { roles: readers },
  idempotency: 'own',
  body: z.strictObject({
    id: recordId().optional(),
    practice_group_ids: z
      .array(recordId())
      .max(MEMBERS_MAX)
      .optional()
      .meta({ description: 'All members that it would have. None for a network that would be deleted.' }),
    ...networkCaps,
  }),
  bodyBytesMax: 512 * 1024,
  response: {
    status: 200,
    description: 'Who would gain and who would lose.',
    body: z.object({ gains: both, losses: both }).meta({ id: 'NetworkPreview' }),
  },
  problems: ['not_found', 'business_rule_violation'],
  rules: ['members_unknown', 'partners_unknown'],
});
