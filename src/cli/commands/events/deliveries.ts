import type { PartnerDelivery } from '../../../contract/operator/events/deliveries.ts';
import type { PartnerWebhook } from '../../../contract/operator/events/webhooks.ts';
import type { Page } from '../../../contract/page.ts';
import { type Delivery, deliveryStatuses } from '../../../contract/partner/webhook-deliveries.ts';
import type { Api, Request } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import { namesOf } from '../../names.ts';
import type { Column, Printer } from '../../printer.ts';
import { segment } from '../../segment.ts';
import { asEither, forOperators, groupOption } from '../either.ts';
import { limitOf, limitOption } from '../limit.ts';
import { onlyWebhook } from './resend.ts';

const columns = <D extends Delivery>(more: readonly Column<D>[] = []): Column<D>[] => [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status],
  ['EVENT', ({ event }) => event],
  ['OBJECT', ({ object_id }) => object_id],
  ...more,
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
  const { partner, group } = names;
  out.page(
    page,
    columns([
      ['PARTNER', ({ partner_id }) => partner(partner_id)],
      ['PRACTICE GROUP', ({ practice_group_id }) => group(practice_group_id)],
    ]),
  );
}

export const deliveryCommands = [
  defineCommand({
    name: 'deliveries list',
    section: 'both',
    calls: 'either',
    summary: 'List deliveries: what was sent to whom, and what came of it.',
    details: `${asEither} An API key lists the deliveries of one webhook: your only one unless --webhook names it.`,
    options: {
      status: { value: 'status', summary: 'Only those.', choices: deliveryStatuses },
      webhook: { value: 'id', summary: 'Only those of this webhook.' },
      event: { value: 'id', summary: 'For operators: only deliveries of this event.' },
      group: groupOption,
      limit: limitOption,
    },
    examples: ['deliveries list --status failed', 'deliveries list --webhook wh_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, options, out }) {
      if (!(await api.isOperator())) {
        forOperators(options, ['event']);
        const path = `/webhooks/${segment(options.webhook ?? (await onlyWebhook(api)))}/deliveries`;
        const { status } = options;
        const read = (query: Request['query']) =>
          api.partner<Page<Delivery>>('GET', path, { query: { ...query, status } });
        return out.page(await api.list(read, limitOf(options.limit)), columns());
      }
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
    section: 'operator',
    calls: 'operator',
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
