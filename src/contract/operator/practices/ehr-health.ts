import { z } from 'zod';
import { readers, sources } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId } from '../../fields.ts';

const reported = ['healthy', 'unhealthy'] as const;

const path = '/operator/v1/practice-groups/{id}/ehr-health';
const ofGroup = z.strictObject({ id: recordId() });
const tag = 'EHR health';

export const reportEhrHealth = defineEndpoint({
  operationId: 'reportEhrHealth',
  method: 'PUT',
  path,
  tag,
  summary: 'Report EHR health',
  description:
    'Tells how the EHR connection of a practice group is doing. Report as often as you like: `ehr.health_status.healthy` or `ehr.health_status.unhealthy` is sent only when the status changes, and for the first report.',
  extension: true,
  access: { roles: sources },
  params: ofGroup,
  body: z.strictObject({ status: z.enum(reported) }),
  response: {
    status: 200,
    description: 'The status, and whether the report changed it.',
    body: z.object({ changed: z.boolean(), status: z.enum(reported) }).meta({ id: 'EhrHealthReport' }),
  },
  problems: ['not_found'],
});

export const getEhrHealth = defineEndpoint({
  operationId: 'getEhrHealth',
  method: 'GET',
  path,
  tag,
  summary: 'Get EHR health',
  description: 'The last reported status of the EHR connection of a practice group.',
  extension: true,
  access: { roles: readers },
  params: ofGroup,
  response: {
    status: 200,
    description: 'The status.',
    body: z
      .object({
        status: z.enum([...reported, 'unknown']).meta({ description: 'unknown: nobody has reported yet.' }),
      })
      .meta({ id: 'EhrHealth' }),
  },
  problems: ['not_found'],
});
