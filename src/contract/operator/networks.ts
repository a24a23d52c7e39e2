import { z } from 'zod';
import { admins, readers } from '../access.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId, text, timestamp } from '../fields.ts';
import { pageOf, pageQuery } from '../page.ts';
import { MEMBERS_MAX } from '../rules.ts';

const network = z
  .object({
    id: z.string(),
    name: z.string(),
    practice_group_ids: z.array(z.string()),
    created_at: timestamp(),
    updated_at: timestamp(),
  })
  .meta({ id: 'Network', description: 'Practice groups whose keys may act for one another.' });

export type Network = z.infer<typeof network>;

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
  body: z.strictObject({
    name: text({ min: 1, max: 255 }),
    practice_group_ids: z.array(recordId()).max(MEMBERS_MAX),
  }),
  response: { status: 201, description: 'The network.', body: network },
  problems: ['business_rule_violation'],
  rules: ['members_unknown'],
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
  params: member,
  response: { status: 204, description: 'The practice group is not a member.' },
  problems: ['not_found'],
});
