import type { PartnerUsage } from '../../../contract/operator/oversight/usage.ts';
import type { Page } from '../../../contract/page.ts';
import type { UsageEntry } from '../../../contract/partner/usage.ts';
import { defineCommand } from '../../command.ts';
import { UsageError } from '../../exit.ts';
import { namesOf } from '../../names.ts';
import type { Column } from '../../printer.ts';
import { limitOf, limitOption } from '../limit.ts';

const columns: Column<UsageEntry>[] = [
  ['DAY', ({ day }) => day],
  ['KIND', ({ kind }) => kind],
  ['KEY OR WEBHOOK', ({ key_id, webhook_id }) => key_id ?? webhook_id],
  ['OPERATION', ({ operation }) => operation],
  ['OUTCOME', ({ outcome }) => outcome],
  ['COUNT', ({ count }) => count],
];

export const usageCommand = defineCommand({
  name: 'usage',
  section: 'setUp',
  calls: 'either',
  summary: 'Show how much was used: calls and deliveries by day.',
  details:
    'With the token of an operator, of all partners; with an API key, your own. Days are those of UTC; the last 30 unless given.',
  options: {
    from: { value: 'day', summary: 'The first day, such as 2026-11-01.' },
    to: { value: 'day', summary: 'The last day.' },
    partner: { value: 'id', summary: 'Only of this partner. For operators.' },
    limit: limitOption,
  },
  examples: ['usage', 'usage --from 2026-11-01 --to 2026-11-30'],
  async run({ api, options, out }) {
    const { from, to, partner } = options;
    const { operatorToken } = await api.connection();
    const limit = limitOf(options.limit);
    if (!operatorToken) {
      if (partner !== undefined)
        throw new UsageError('--partner is for operators: a key is told its own usage.');
      const own = (query: object) =>
        api.aboutItself<Page<UsageEntry>>('/usage', { query: { ...query, from, to } });
      return out.page(await api.list((query) => own(query ?? {}), limit), columns);
    }
    const page = await api.list(
      (query) =>
        api.operator<Page<PartnerUsage>>('GET', '/usage', {
          query: { ...query, from, to, partner_id: partner },
        }),
      limit,
    );
    const { partner: name } = await namesOf(api, out, {
      partners: page.data.map(({ partner_id }) => partner_id),
    });
    out.page(page, [['PARTNER', ({ partner_id }) => name(partner_id)], ...columns]);
  },
});
