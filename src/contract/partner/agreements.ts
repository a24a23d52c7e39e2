import { z } from 'zod';
import { defineEndpoint } from '../endpoint.ts';
import { agreement } from '../operator/access/agreements.ts';
import { pageOf, pageQuery } from '../page.ts';

/** Whose it is, the partner knows; which of its keys work, the operator looks after. */
export const ownAgreement = agreement
  .omit({ partner_id: true, active_keys: true })
  .meta({ id: 'OwnAgreement', description: 'What you have signed, and the terms.' });

export const listOwnAgreements = defineEndpoint({
  operationId: 'listOwnAgreements',
  method: 'GET',
  path: '/v1/agreements',
  tag: 'Account',
  summary: 'List your agreements',
  description: 'What was agreed with you, in the order in which it was recorded.',
  extension: true,
  access: { anyKey: true, aboutItself: true },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(ownAgreement) },
  problems: [],
});
