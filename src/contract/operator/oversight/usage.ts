import { z } from 'zod';
import { readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { usageDays, usageEntry, whenCounted } from '../../partner/usage.ts';

const partnerUsage = usageEntry.extend({ partner_id: z.string() }).meta({ id: 'PartnerUsageEntry' });

export type PartnerUsage = z.infer<typeof partnerUsage>;

export const listPartnerUsage = defineEndpoint({
  operationId: 'listPartnerUsage',
  method: 'GET',
  path: '/operator/v1/usage',
  tag: 'Usage',
  summary: 'List usage',
  description: `Calls by day, partner, key, operation and outcome, and deliveries by webhook. ${whenCounted}`,
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    ...usageDays,
    partner_id: recordId().optional(),
    key_id: recordId().optional().meta({ description: 'Calls with this key alone.' }),
  }),
  response: { status: 200, description: 'One page, by day and partner.', body: pageOf(partnerUsage) },
  problems: [],
});
