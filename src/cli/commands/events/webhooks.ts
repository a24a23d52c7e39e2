import type { PartnerWebhook } from '../../../contract/operator/events/webhooks.ts';
import type { Page } from '../../../contract/page.ts';
import { type Webhook, webhookStatuses } from '../../../contract/partner/webhooks.ts';
import type { Api, Request } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import { Failure, UsageError } from '../../exit.ts';
import { named, namesOf } from '../../names.ts';
import { type Column, inLine } from '../../printer.ts';
import { segment } from '../../segment.ts';
import { asEither, forOperators, groupOption } from '../either.ts';
import { limitOf, limitOption } from '../limit.ts';

const section = 'both' as const;
const calls = 'either' as const;
const webhook = [{ name: 'webhook_id', summary: 'The ID of the webhook.' }] as const;

const ofPartner: readonly Column<PartnerWebhook>[] = [
  ['PARTNER', ({ partner_id, partner_name }) => named(partner_name, partner_id)],
];

const columns = <W extends Webhook>(
  group: (id: string) => string | null,
  more: readonly Column<W>[] = [],
): Column<W>[] => [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status],
  ...more,
  [
    'PRACTICE GROUP',
    ({ practice_group_id, practice_groups }) =>
      practice_group_id === null ? practice_groups : group(practice_group_id),
  ],
  ['URL', ({ url }) => url],
  ['QUEUED', ({ health }) => health.queued],
  ['FAILURES', ({ health }) => health.failures],
  ['FAILING SINCE', ({ health }) => health.failing_since],
  ['CREATED', ({ created_at }) => created_at],
];

/** Of what was done already, only told about: a failure here is none of it. */
const statusOf = (api: Api, id: string) =>
  api.either<Webhook>('GET', `/webhooks/${segment(id)}`).then(
    ({ status }) => status,
    (error) => {
      if (error instanceof Failure) return 'active';
      throw error;
    },
  );

const setStatus = (api: Api, id: string, status: 'active' | 'paused') =>
  api.either<Webhook>('PATCH', `/webhooks/${segment(id)}`, { body: { status } });

export const webhookCommands = [
  defineCommand({
    name: 'webhooks list',
    section,
    calls,
    summary: 'List webhooks, and how they are doing.',
    details: asEither,
    options: {
      status: {
        value: 'status',
        summary: 'For operators: only webhooks with this status.',
        choices: webhookStatuses,
      },
      partner: { value: 'id', summary: 'For operators: only webhooks of this partner.' },
      group: groupOption,
      limit: limitOption,
    },
    examples: ['webhooks list', 'webhooks list --status disabled'],
    async run({ api, options, out }) {
      if (!(await api.isOperator())) {
        forOperators(options, ['status', 'partner']);
        const read = (query: Request['query']) => api.partner<Page<Webhook>>('GET', '/webhooks', { query });
        return out.page(await api.list(read, limitOf(options.limit)), columns(String));
      }
      const filter = {
        status: options.status,
        partner_id: options.partner,
        practice_group_id: options.group,
      };
      const page = await api.list(
        (query) => api.operator<Page<PartnerWebhook>>('GET', '/webhooks', { query: { ...query, ...filter } }),
        limitOf(options.limit),
      );
      const { group } = await namesOf(api, out, {
        groups: page.data.map(({ practice_group_id }) => practice_group_id),
      });
      out.page(page, columns(group, ofPartner));
    },
  }),
  defineCommand({
    name: 'webhooks show',
    section,
    calls,
    summary: 'Show a webhook.',
    arguments: webhook,
    examples: ['webhooks show wh_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, out }) {
      out.record(await api.either<Webhook>('GET', `/webhooks/${segment(args.webhook_id)}`));
    },
  }),
  defineCommand({
    name: 'webhooks pause',
    section,
    calls,
    summary: 'Pause a webhook. Its deliveries stay queued.',
    arguments: webhook,
    examples: ['webhooks pause wh_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, out }) {
      out.record(await setStatus(api, args.webhook_id, 'paused'));
    },
  }),
  defineCommand({
    name: 'webhooks activate',
    section,
    calls,
    summary: 'Activate a webhook that is paused or disabled. What is queued is sent.',
    arguments: webhook,
    examples: ['webhooks activate wh_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, out }) {
      out.record(await setStatus(api, args.webhook_id, 'active'));
    },
  }),
  defineCommand({
    name: 'webhooks replay',
    section,
    calls,
    summary: 'Send events to a webhook again, or for the first time.',
    details: 'Give --since, or the IDs of events with --events. They are sent with the same `webhook-id`.',
    arguments: webhook,
    options: {
      since: { value: 'time', summary: 'All since then, such as 2026-11-14T06:00:00Z.' },
      events: { value: 'ids', summary: 'These, with commas between.', many: true },
    },
    examples: ['webhooks replay wh_00Vb13pkZeDP1yAD86FW5V4Dr --since 2026-11-14T06:00:00Z'],
    async run({ api, args, options, out }) {
      const { since, events } = options;
      if ((since === undefined) === (events.length === 0))
        throw new UsageError('Say what to send again.', 'Give either --since or --events.');
      const id = args.webhook_id;
      const body = since === undefined ? { event_ids: events } : { since };
      const path = `/webhooks/${segment(id)}/replay`;
      const { count } = await api.either<{ count: number }>('POST', path, { body });
      const status = await statusOf(api, id);
      out.document({ webhook_id: id, count }, () =>
        inLine(
          count === 0 || status === 'active'
            ? `${count} on the way to ${id}.`
            : `Queued: ${count} for ${id}, which is ${status}. They wait until it is active: porter webhooks activate ${id}`,
        ),
      );
    },
  }),
];
