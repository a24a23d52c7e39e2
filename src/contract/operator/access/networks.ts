import { z } from 'zod';
import { admins, readers, scopeList, scopeNames } from '../../access.ts';
import { defineEndpoint } from '../../endpoint.ts';
import { line, recordId, timestamp } from '../../fields.ts';
import { pageOf, pageQuery } from '../../page.ts';
import { MEMBERS_MAX, NETWORK_PARTNERS_MAX } from '../../rules.ts';

const GRANTED =
  'What keys may do through the network, within their own scopes. null: everything. A key still does all it may for its own practice group.';
const TO_WHOM = 'Whose keys may act through the network. null: those of every partner.';

const network = z
  .object({
    id: z.string(),
    name: z.string(),
    practice_group_ids: z.array(z.string()),
    scopes: z.array(z.enum(scopeNames)).nullable().meta({ description: GRANTED }),
    partner_ids: z.array(z.string()).nullable().meta({ description: TO_WHOM }),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Network', description: 'Practice groups whose keys may act for one another.' });

export type Network = z.infer<typeof network>;

export const networkCaps = {
  scopes: scopeList().nullable().optional().meta({ description: GRANTED }),
  partner_ids: z
    .array(recordId())
    .min(1)
    .max(NETWORK_PARTNERS_MAX)
    .nullable()
    .optional()
    .meta({ description: TO_WHOM }),
};

const byId = z.strictObject({ id: recordId() });
const member = z.strictObject({ id: recordId(), practice_group_id: recordId() });
const tag = 'Networks';

export const createNetwork = defineEndpoint({
  operationId: 'createNetwork',
  method: 'POST',
  path: '/operator/v1/networks',
  tag,
  summary: 'Create a network',
  extension: true,
  access: { roles: admins },
  approval: 'networks',
  body: z.strictObject({
    name: line({ min: 1, max: 255 }),
    practice_group_ids: z.array(recordId()).max(MEMBERS_MAX),
    ...networkCaps,
  }),
  response: { status: 201, description: 'The network.', body: network },
  problems: ['business_rule_violation'],
  rules: ['members_unknown', 'partners_unknown'],
});

export const updateNetwork = defineEndpoint({
  operationId: 'updateNetwork',
  method: 'PATCH',
  path: '/operator/v1/networks/{id}',
  tag,
  summary: 'Update a network',
  description:
    'A merge patch: what is left out stays as it is; null lifts a cap. With a cap, it answers when no node lets anything through any more that the cap forbids.',
  extension: true,
  access: { roles: admins },
  approval: 'networks',
  params: byId,
  body: z.strictObject({ name: line({ min: 1, max: 255 }).optional(), ...networkCaps }),
  readOnly: ['id', 'practice_group_ids', 'created_at', 'updated_at'],
  response: { status: 200, description: 'The network as it is now.', body: network },
  problems: ['not_found', 'business_rule_violation'],
  rules: ['partners_unknown'],
});

export const listNetworks = defineEndpoint({
  operationId: 'listNetworks',
  method: 'GET',
  path: '/operator/v1/networks',
  tag,
  summary: 'List networks',
  extension: true,
  access: { roles: readers },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(network) },
  problems: [],
});

export const getNetwork = defineEndpoint({
  operationId: 'getNetwork',
  method: 'GET',
  path: '/operator/v1/networks/{id}',
  tag,
  summary: 'Get a network',
  extension: true,
  access: { roles: readers },
  params: byId,
  response: { status: 200, description: 'The network.', body: network },
  problems: ['not_found'],
});

export const deleteNetwork = defineEndpoint({
  operationId: 'deleteNetwork',
  method: 'DELETE',
  path: '/operator/v1/networks/{id}',
  tag,
  summary: 'Delete a network',
  description: 'Answers when no node lets a call through because of this network any more.',
  extension: true,
  access: { roles: admins },
  approval: 'networks',
  params: byId,
  response: { status: 204, description: 'The network is deleted.' },
  problems: ['not_found'],
});

export const addNetworkMember = defineEndpoint({
  operationId: 'addNetworkMember',
  method: 'PUT',
  path: '/operator/v1/networks/{id}/members/{practice_group_id}',
  tag,
  summary: 'Add a practice group to a network',
  extension: true,
  access: { roles: admins },
  approval: 'networks',
  params: member,
  response: { status: 204, description: 'The practice group is a member.' },
  problems: ['not_found', 'business_rule_violation'],
  rules: ['network_full'],
});

export const removeNetworkMember = defineEndpoint({
  operationId: 'removeNetworkMember',
  method: 'DELETE',
  path: '/operator/v1/networks/{id}/members/{practice_group_id}',
  tag,
  summary: 'Remove a practice group from a network',
  description: 'Answers when no node lets a call through because of this membership any more.',
  extension: true,
  access: { roles: admins },
  approval: 'networks',
  params: member,
  response: { status: 204, description: 'The practice group is not a member.' },
  problems: ['not_found'],
});
