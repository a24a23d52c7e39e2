import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { text } from '../../fields.ts';

/** In the order in which they are shown. */
export const searchKinds = [
  'partner',
  'practice_group',
  'network',
  'key',
  'webhook',
  'contact',
  'event',
  'delivery',
  'refused_request',
  'change',
  'submission_type',
  'write_to_record_job',
  'agreement',
  'alert',
  'operator',
  'subscription',
] as const;

export type SearchKind = (typeof searchKinds)[number];

/** Of each kind. */
export const HITS_MAX = 8;
/** One letter is the beginning of almost everything. */
const SEARCH_LENGTH_MIN = 2;

const hit = z
  .object({
    kind: z.enum(searchKinds),
    id: z.string().meta({ description: 'Of a refused request, its request ID.' }),
    title: z.string().meta({ description: 'What people call it.', examples: ['Brightwater Software'] }),
    subtitle: z.string().nullable().meta({
      description: 'What tells it from others of the same name: whose it is, its status, its address.',
    }),
    matched: z.enum(['id', 'last_four', 'name', 'ods_code', 'url', 'email']).meta({
      description: 'What the text was found in.',
    }),
    exact: z.boolean().meta({ description: 'The whole of it is what was looked for.' }),
    open: z.object({ kind: z.enum(searchKinds), id: z.string() }).meta({
      id: 'SearchTarget',
      description: 'What to open: the thing itself, or what it belongs to, as a contact to its partner.',
    }),
    partner_id: z.string().nullable(),
    practice_group_id: z.string().nullable(),
  })
  .meta({ id: 'SearchHit' });

export type SearchHit = z.infer<typeof hit>;

export const search = defineEndpoint({
  operationId: 'search',
  method: 'GET',
  path: '/operator/v1/search',
  tag: 'Search',
  summary: 'Search',
  description: `Finds what a piece of text belongs to. Any ID of this service and request IDs as a whole; the last four characters of a key; the name of a partner, a practice group, a network or a contact, or a part of it; an ODS code; the address of a webhook or a part of it; the e-mail address of a contact. At most ${HITS_MAX} of each kind, kinds in a fixed order, what was found as a whole first. Upper and lower case are alike in names, and not in IDs.`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    q: text({ min: SEARCH_LENGTH_MIN, max: 255 })
      .refine((q) => q.trim().length >= SEARCH_LENGTH_MIN || q.length < SEARCH_LENGTH_MIN, {
        error: `Must have at least ${SEARCH_LENGTH_MIN} characters that are no blanks.`,
        params: { code: 'too_small', expected: 'string' },
      })
      .meta({
        minLength: SEARCH_LENGTH_MIN,
        maxLength: 255,
        description: 'What is looked for. Blanks at either end do not count.',
        examples: ['brightw'],
      }),
  }),
  response: {
    status: 200,
    description: 'What was found.',
    body: z
      .object({
        data: z.array(hit),
        count: z.int().min(0).meta({ description: 'How many hits there are in `data`.' }),
        more: z.array(z.enum(searchKinds)).meta({ description: 'The kinds of which more was found.' }),
      })
      .meta({ id: 'SearchResult' }),
  },
  problems: [],
});
