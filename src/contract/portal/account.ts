import { z } from 'zod';
import { scopeNames } from '../access.ts';
import { partnerKindNames } from '../alerts.ts';
import { alertKindList, contact } from '../contacts.ts';
import { defineEndpoint } from '../endpoint.ts';
import { recordId, timestamp } from '../fields.ts';
import { keyStatuses, proofs } from '../operator/access/keys.ts';
import { slaQuery, slaReport } from '../operator/oversight/sla.ts';
import { pageOf, pageQuery, shortPages } from '../page.ts';
import { ownAgreement } from '../partner/agreements.ts';

/** What people of a partner see of the partner itself. */

const tag = 'Portal';
const count = (description: string) => z.int().min(0).meta({ description });

const dayOfCalls = z
  .object({
    day: z.string().meta({ description: 'By the calendar of UTC.', examples: ['2026-11-14'] }),
    ok: count('Answered.'),
    refused: count('Answered with 4xx, but for 429.'),
    rate_limited: count('Answered with 429.'),
    failed: count('Answered with 5xx.'),
  })
  .meta({ id: 'DayOfCalls', description: 'Calls with a key, by what became of them.' });

export type DayOfCalls = z.infer<typeof dayOfCalls>;

/** Days that the portal shows of calls. */
export const DAYS_SHOWN = 14;

const home = z
  .object({
    partner: z.object({ id: z.string(), name: z.string(), status: z.string() }),
    support_contact: z.string(),
    keys: z.object({
      active: count('That work.'),
      ending: count('Of these, that end within 14 days.'),
    }),
    webhooks: z.object({
      active: count('That are sent to.'),
      failing: count('Of these, whose last attempts failed.'),
      paused: count('By somebody.'),
      disabled: count('By the service, because they failed for long.'),
      withheld: count('That the partner may not receive at present, at least in part.'),
    }),
    alerts_open: count('That need looking after.'),
    days: z.array(dayOfCalls).meta({ description: `The last ${DAYS_SHOWN}, of all keys.` }),
  })
  .meta({ id: 'PortalHome', description: 'Whether the integration is well, in figures.' });

export const getPortalHome = defineEndpoint({
  operationId: 'getPortalHome',
  method: 'GET',
  path: '/portal/v1/home',
  tag,
  summary: 'Tell whether the integration is well',
  extension: true,
  access: { guests: 'partner' },
  response: { status: 200, description: 'The partner in figures.', body: home },
  problems: [],
});

const portalKey = z
  .object({
    id: z.string(),
    label: z.string().nullable(),
    prefix: z.string(),
    last_four: z.string(),
    status: z.enum(keyStatuses),
    practice_group: z.object({ id: z.string(), name: z.string() }),
    scopes: z.array(z.enum(scopeNames)),
    rate_limit_per_minute: z.int().meta({ description: 'The limit that holds for it.' }),
    allowed_addresses: z.array(z.string()).nullable(),
    proof: z.enum(proofs),
    last_used_at: timestamp().nullable(),
    last_used_from: z.string().nullable(),
    expires_at: timestamp().nullable(),
    revoked_at: timestamp().nullable(),
    replaced_by: z.string().nullable(),
    created_at: timestamp(),
    today: dayOfCalls,
  })
  .meta({ id: 'PortalKey', description: 'A key of the partner. The key itself is shown to nobody.' });

export type PortalKey = z.infer<typeof portalKey>;

export const listPortalKeys = defineEndpoint({
  operationId: 'listPortalKeys',
  method: 'GET',
  path: '/portal/v1/keys',
  tag,
  summary: 'List keys',
  extension: true,
  access: { guests: 'partner' },
  query: z.strictObject({ ...pageQuery, status: z.enum(keyStatuses).optional() }),
  response: { status: 200, description: 'One page.', body: pageOf(portalKey) },
  problems: [],
});

export const getPortalKey = defineEndpoint({
  operationId: 'getPortalKey',
  method: 'GET',
  path: '/portal/v1/keys/{id}',
  tag,
  summary: 'Get a key with its use',
  extension: true,
  access: { guests: 'partner' },
  params: z.strictObject({ id: recordId() }),
  response: {
    status: 200,
    description: 'The key, and its calls day by day.',
    body: portalKey
      .extend({ days: z.array(dayOfCalls).meta({ description: `The last ${DAYS_SHOWN}.` }) })
      .meta({ id: 'PortalKeyInUse' }),
  },
  problems: ['not_found'],
});

/** With which key a practice is acted for. */
export const way = z
  .object({
    key_id: z.string(),
    label: z.string().nullable(),
    last_four: z.string(),
    practice_group_id: z.string().meta({ description: 'To be sent as x-practice-group-id.' }),
    scopes: z.array(z.enum(scopeNames)).meta({ description: 'What it may do there.' }),
    through: z
      .object({ id: z.string(), name: z.string() })
      .nullable()
      .meta({ description: 'A network that lets it; null: the key is tied to the practice.' }),
    demands: z.enum(['nothing', 'address', 'proof']).meta({
      description:
        'What the key asks for beside itself. proof: with it, the portal reads and changes nothing. address: it changes things from its allowed_addresses alone.',
    }),
  })
  .meta({ id: 'PortalWay' });

export type PortalWay = z.infer<typeof way>;
export const WAYS_MAX = 5;

const practice = z
  .object({
    id: z.string(),
    name: z.string(),
    ods_code: z.string().nullable(),
    ways: z.array(way).meta({ description: `The best first; at most ${WAYS_MAX}.` }),
  })
  .meta({ id: 'PortalPractice', description: 'A practice that the partner may act for.' });

export const listPortalPractices = defineEndpoint({
  operationId: 'listPortalPractices',
  method: 'GET',
  path: '/portal/v1/practices',
  tag,
  summary: 'List practices',
  description: `The practices that a key of the partner may act for at this moment. ${shortPages}`,
  extension: true,
  access: { guests: 'partner' },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(practice) },
  problems: [],
});

export const listPortalAgreements = defineEndpoint({
  operationId: 'listPortalAgreements',
  method: 'GET',
  path: '/portal/v1/agreements',
  tag,
  summary: 'List agreements',
  extension: true,
  access: { guests: 'partner' },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(ownAgreement) },
  problems: [],
});

export const getPortalSla = defineEndpoint({
  operationId: 'getPortalSla',
  method: 'GET',
  path: '/portal/v1/sla',
  tag,
  summary: 'Measure the SLA',
  extension: true,
  access: { guests: 'partner' },
  query: slaQuery,
  response: { status: 200, description: 'The figures and the targets.', body: slaReport },
  problems: [],
});

export const listPortalContacts = defineEndpoint({
  operationId: 'listPortalContacts',
  method: 'GET',
  path: '/portal/v1/contacts',
  tag,
  summary: 'List who is told of alerts',
  extension: true,
  access: { guests: 'partner' },
  query: z.strictObject(pageQuery),
  response: { status: 200, description: 'One page.', body: pageOf(contact) },
  problems: [],
});

export const updatePortalContact = defineEndpoint({
  operationId: 'updatePortalContact',
  method: 'PATCH',
  path: '/portal/v1/contacts/{id}',
  tag,
  summary: 'Choose what a contact is told of',
  description: 'Addresses are changed by support alone.',
  extension: true,
  access: { guests: 'partner' },
  params: z.strictObject({ id: recordId() }),
  body: z.strictObject({ alert_kinds: alertKindList(partnerKindNames) }),
  readOnly: ['id', 'partner_id', 'email', 'name', 'created_at', 'updated_at'],
  response: { status: 200, description: 'The contact as it is now.', body: contact },
  problems: ['not_found'],
});

/** Days of uptime that the portal shows. */
export const STATUS_DAYS = 30;

const serviceStatus = z
  .object({
    environment: z.string(),
    support_contact: z.string(),
    checked_at: timestamp(),
    deliveries: z.enum(['on_time', 'late']).meta({
      description: 'late: what is accepted is not taken up in time, whichever partner it is for.',
    }),
    days: z
      .array(
        z.object({
          day: z.string().meta({ examples: ['2026-11-14'] }),
          minutes_down: count('In which no node that answers calls could reach the database.'),
          percent: z.number().nullable().meta({ description: 'null: it did not run yet.' }),
        }),
      )
      .meta({ description: `The last ${STATUS_DAYS}, by the calendar of UTC.` }),
  })
  .meta({ id: 'ServiceStatus' });

export const getPortalStatus = defineEndpoint({
  operationId: 'getPortalStatus',
  method: 'GET',
  path: '/portal/v1/status',
  tag,
  summary: 'Tell how the service is',
  extension: true,
  access: { guests: 'partner' },
  response: { status: 200, description: 'The service, now and in the last days.', body: serviceStatus },
  problems: [],
});
