import { z } from 'zod';
import { admins, readers } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { recordId } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { stopFields, stopReason } from '../../stops.ts';
import { named } from '../named.ts';

const stop = z
  .object({ ...stopFields, partner: named, practice_group: named })
  .meta({ id: 'Stop', description: 'A practice has stopped a partner.' });

export type Stop = z.infer<typeof stop>;

const tag = 'Stops';

export const listStops = defineEndpoint({
  operationId: 'listStops',
  method: 'GET',
  path: '/operator/v1/stops',
  tag,
  summary: 'List stops',
  description:
    'Which practices have stopped which partners, newest first: those in force, and those that were lifted. People of a practice stop a partner in their own pages; operators see it, and are told.',
  extension: true,
  access: { roles: readers },
  query: z.strictObject({
    ...pageQuery,
    partner_id: recordId().optional(),
    practice_group_id: recordId().optional(),
    in_force: z
      .enum(['true', 'false'])
      .optional()
      .meta({ description: 'Only those in force, or only those that were lifted.' }),
  }),
  response: { status: 200, description: 'One page.', body: pageOf(stop) },
  problems: [],
});

export const liftStop = defineEndpoint({
  operationId: 'liftStop',
  method: 'POST',
  path: '/operator/v1/stops/{id}/lift',
  tag,
  summary: 'Lift a stop',
  description:
    'For the practice, which sees who did it and why. The partner reaches the practice group again with its next call, and what was queued for it goes on, for as long as events are kept. Lifting twice is no error.',
  extension: true,
  access: { roles: admins },
  params: z.strictObject({ id: recordId() }),
  body: z.strictObject({ reason: stopReason() }),
  response: { status: 200, description: 'The stop.', body: stop },
  problems: ['not_found'],
});
