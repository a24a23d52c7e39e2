import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { text, timestamp } from '../fields.ts';

const addressLine = () => text({ max: 255 }).nullable();

const address = z
  .strictObject({
    line_1: addressLine(),
    line_2: addressLine(),
    town: addressLine(),
    county: addressLine(),
    postcode: addressLine(),
  })
  .meta({ id: 'Address' });

export const practiceGroup = z
  .object({
    id: z.string(),
    name: z.string(),
    ods_code: z.string().nullable().meta({ description: 'The organisation code of the practice.' }),
    timezone: z.string().meta({ description: 'IANA time zone.', examples: ['Europe/London'] }),
    address: address.nullable(),
    networks: z.array(z.object({ id: z.string(), name: z.string() })),
    ehr_status: z.enum(['healthy', 'unhealthy', 'unknown']).meta({
      description: 'The last reported status of the connection to the electronic health record (EHR).',
    }),
    created_at: timestamp(),
    updated_at: timestamp(),
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
      .object({ data: z.array(practiceGroup), count: z.int().min(0) })
      .meta({ id: 'PracticeGroupList', 'x-extension': true }),
  },
  problems: [],
});
