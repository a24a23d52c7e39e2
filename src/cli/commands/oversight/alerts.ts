import type { OperatorAlert } from '../../../contract/operator/oversight/alerts.ts';
import type { Page } from '../../../contract/page.ts';
import { defineCommand } from '../../command.ts';
import { namesOf } from '../../names.ts';
import type { Column } from '../../printer.ts';
import { limitOf, limitOption } from '../limit.ts';

const columns = (partner: (id: string | null) => string | null): Column<OperatorAlert>[] => [
  ['BEGAN', ({ began_at }) => began_at],
  ['ENDED', ({ ended_at }) => ended_at],
  ['KIND', ({ kind }) => kind],
  ['PARTNER', ({ partner_id }) => partner(partner_id)],
  ['WHAT', ({ message }) => message],
];

export const alertsCommand = defineCommand({
  name: 'alerts',
  section: 'operator',
  calls: 'operator',
  summary: 'List what needs looking after.',
  details: 'Alerts that are open, newest first. With --all, also those that have ended.',
  options: {
    all: { summary: 'Also those that have ended.' },
    kind: { value: 'name', summary: 'Only of this kind, such as webhook_failing.' },
    partner: { value: 'id', summary: 'Only those of this partner.' },
    limit: limitOption,
  },
  examples: ['alerts', 'alerts --all --kind webhook_disabled --limit 5'],
  async run({ api, options, out }) {
    const filter = {
      open: options.all ? undefined : 'true',
      kind: options.kind,
      partner_id: options.partner,
    };
    const page = await api.list(
      (query) => api.operator<Page<OperatorAlert>>('GET', '/alerts', { query: { ...query, ...filter } }),
      limitOf(options.limit),
    );
    const { partner } = await namesOf(api, out, { partners: page.data.map(({ partner_id }) => partner_id) });
    out.page(page, columns(partner));
  },
});
