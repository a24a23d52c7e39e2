import type { PartnerDelivery } from '../../contract/operator/deliveries.ts';
import type { PartnerWebhook } from '../../contract/operator/webhooks.ts';
import type { Page } from '../../contract/page.ts';
import { deliveryStatuses } from '../../contract/partner/webhook-deliveries.ts';
import type { Api } from '../api.ts';
import { defineCommand } from '../command.ts';
import { namesOf } from '../names.ts';
import type { Column, Printer } from '../printer.ts';
import { segment } from '../segment.ts';
import { limitOf, limitOption } from './limit.ts';

const section = 'operator' as const;
const calls = 'operator' as const;

const columns = ({ partner, group }: Awaited<ReturnType<typeof namesOf>>): Column<PartnerDelivery>[] => [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status],
  ['EVENT', ({ event }) => event],
  ['OBJECT', ({ object_id }) => object_id],
  ['PARTNER', ({ partner_id }) => partner(partner_id)],
  ['PRACTICE GROUP', ({ practice_group_id }) => group(practice_group_id)],
  ['CREATED', ({ created_at }) => created_at],
  ['NEXT ATTEMPT', ({ next_attempt_at }) => next_attempt_at],
  ['ATTEMPTS', ({ attempts }) => attempts.length],
  ['LAST ANSWER', ({ attempts, withheld_reason }) => withheld_reason ?? attempts.at(-1)?.diagnosis],
];

async function show(
  api: Api,
  out: Printer,
  page: { data: PartnerDelivery[]; next_cursor: string | null },
): Promise<void> {
  const names = await namesOf(api, out, {
    partners: page.data.map(({ partner_id }) => partner_id),
    groups: page.data.map(({ practice_group_id }) => practice_group_id),
  });
  out.page(page, columns(names));
}

export const deliveryCommands = [
  defineCommand({
    name: 'deliveries list',
    section,
    calls,
    summary: 'List deliveries: what was sent to whom, and what came of it.',
    options: {
      status: { value: 'status', summary: 'Only those.', choices: deliveryStatuses },
      webhook: { value: 'id', summary: 'Only those of this webhook.' },
      event: { value: 'id', summary: 'Only those of this event.' },
      group: { value: 'id', summary: 'Only those of this practice group.' },
      limit: limitOption,
    },
    examples: ['deliveries list --status failed', 'deliveries list --webhook wh_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, options, out }) {
      const filter = {
        status: options.status,
        webhook_id: options.webhook,
        event_id: options.event,
        practice_group_id: options.group,
      };
      const page = await api.list(
        (query) =>
          api.operator<Page<PartnerDelivery>>('GET', '/deliveries', { query: { ...query, ...filter } }),
        limitOf(options.limit),
      );
      await show(api, out, page);
    },
  }),
  defineCommand({
    name: 'deliveries retry',
    section,
    calls,
    summary: 'Retry deliveries, whatever their status.',
    arguments: [{ name: 'delivery_id', summary: 'The IDs of deliveries.', many: true }],
    examples: ['deliveries retry dlv_00Vb13pkZeDP1yAD86FW5V4Dr_1_00Vb1rC4x'],
    async run({ api, args, out }) {
      const data: PartnerDelivery[] = [];
      try {
        for (const path of args.delivery_id.map((id) => `/deliveries/${segment(id)}/retry`))
          data.push(await api.operator('POST', path));
      } finally {
        // Also of those before one that failed.
        if (data.length > 0) await show(api, out, { data, next_cursor: null });
      }
      if (!out.isForPeople) return;
      for (const id of new Set(data.map(({ webhook_id }) => webhook_id))) {
        const { status } = await api.operator<PartnerWebhook>('GET', `/webhooks/${segment(id)}`);
        if (status === 'paused')
          out.note(
            `${id} is paused. It is sent to when somebody activates it: porter webhooks activate ${id}`,
          );
      }
    },
  }),
];
