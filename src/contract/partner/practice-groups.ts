import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { text, timestamp } from '../fields.ts';

const addressLine = () => text({ max: 255 }).nullable();

const address = z
  .strictObject({
    line_1: addressLine().meta({ description: 'The first line of the address.' }),
    line_2: addressLine().meta({ description: 'The second line of the address.' }),
    town: addressLine().meta({ description: 'The town.' }),
    county: addressLine().meta({ description: 'The county.' }),
    postcode: addressLine().meta({ description: 'The postcode.' }),
  })
  .meta({ id: 'Address' });

export const practiceGroup = z
  .object({
    id: z.string().meta({ description: 'The practice group ID, as it is sent in `x-practice-group-id`.' }),
    name: z.string().meta({ description: 'The name of the practice group.' }),
    ods_code: z.string().nullable().meta({ description: 'The organisation code of the practice.' }),
    timezone: z.string().meta({ description: 'IANA time zone.', examples: ['Europe/London'] }),
    address: address.nullable().meta({ description: 'The postal address; null: not known.' }),
    networks: z
      .array(
        z.object({
          id: z.string().meta({ description: 'The ID of the network.' }),
          name: z.string().meta({ description: 'The name of the network.' }),
        }),
      )
      .meta({ description: 'The networks that the practice group belongs to.' }),
    ehr_status: z.enum(['healthy', 'unhealthy', 'unknown']).meta({
      description: 'The last reported status of the connection to the electronic health record (EHR).',
    }),
    created_at: timestamp().meta({ description: 'When the practice group was created.' }),
    updated_at: timestamp().meta({ description: 'When the practice group was last changed.' }),
  })
  .meta({ id: 'PracticeGroup', description: 'A practice, or a hub that serves several.' });

export type PracticeGroup = z.infer<typeof practiceGroup>;

export const listPracticeGroups = defineEndpoint({
  operationId: 'listPracticeGroups',
  method: 'GET',
  path: '/v1/practice-groups',
  tag: 'Practice groups',
  summary: 'List practice groups',
  description:
    'Answers with the practice group in `x-practice-group-id`: the one that the key is tied to, or another one of the same network.',
  extension: false,
  access: { scope: 'practice-groups:read' },
  query: z.strictObject({
    include: z.enum(['network']).optional().meta({
      description:
        'With `network`, the practice group acted for comes first, then each other practice group that this key can reach through a network.',
      'x-extension': true,
    }),
  }),
  response: {
    status: 200,
    description: 'The practice group acted for.',
    body: z
      .object({
        data: z.array(practiceGroup).meta({ description: 'The practice group acted for comes first.' }),
        count: z.int().min(0).meta({ description: 'The number of practice groups in `data`.' }),
      })
      .meta({ id: 'PracticeGroupList', 'x-extension': true }),
  },
  problems: [],
});
