import { z } from 'zod';
import { scopeNames } from '../access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { timestamp } from '../fields.ts';

const scopes = (description: string) => z.array(z.enum(scopeNames)).meta({ description });

const me = z
  .object({
    partner: z
      .object({
        id: z.string().meta({ description: 'The ID of the partner.' }),
        name: z.string().meta({ description: 'The name of the partner.' }),
      })
      .meta({ description: 'The partner that the key belongs to.' }),
    key: z
      .object({
        id: z.string().meta({ description: 'The ID of the key.' }),
        label: z.string().nullable().meta({ description: 'The label of the key; null: none.' }),
        scopes: scopes('What the key may do.'),
        rate_limit_per_minute: z.int().meta({ description: 'The limit that holds for the key.' }),
        expires_at: timestamp().nullable().meta({ description: 'When the key expires; null: never.' }),
      })
      .meta({ description: 'The key that made the request.' }),
    practice_groups: z
      .array(
        z.object({
          id: z.string().meta({ description: 'The practice group ID.' }),
          name: z.string().meta({ description: 'The name of the practice group.' }),
          scopes: scopes('What the key may do there: its own scopes, as far as networks grant them.'),
          through: z
            .object({
              id: z.string().meta({ description: 'The ID of the network.' }),
              name: z.string().meta({ description: 'The name of the network.' }),
            })
            .nullable()
            .meta({
              description:
                'The network through which the key acts for it, the first by name if there are several; null: it is tied to it.',
            }),
        }),
      )
      .meta({ description: 'Every practice group that the key may act for; its own comes first.' }),
  })
  .meta({ id: 'Me', description: 'A partner and its key, as the service knows them.' });

export type Me = z.infer<typeof me>;

export const getMe = defineEndpoint({
  operationId: 'getMe',
  method: 'GET',
  path: '/v1/me',
  tag: 'Account',
  summary: 'Show who you are',
  description: 'Tells whose key this is, what it may do, and for which practice groups it may act.',
  extension: true,
  access: { anyKey: true, aboutItself: true },
  response: { status: 200, description: 'The partner, the key and the practice groups.', body: me },
  problems: [],
});
