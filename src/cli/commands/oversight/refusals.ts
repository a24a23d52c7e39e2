import type { PartnerRefusedRequest } from '../../../contract/operator/oversight/requests.ts';
import type { Page } from '../../../contract/page.ts';
import { faultsOf } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import { namesOf } from '../../names.ts';
import type { Column } from '../../printer.ts';
import { limitOf, limitOption } from '../limit.ts';

const columns = ({
  partner,
  group,
}: Awaited<ReturnType<typeof namesOf>>): Column<PartnerRefusedRequest>[] => [
  ['AT', ({ at }) => at],
  ['REQUEST', ({ request_id }) => request_id],
  ['PARTNER', ({ partner_id }) => partner(partner_id)],
  ['GROUP', ({ practice_group_id }) => group(practice_group_id)],
  ['CALL', ({ method, path }) => `${method} ${path}`],
  ['ERROR', ({ status, error }) => `${status} ${error}`],
  ['WHY', ({ answer, reason, address }) => (reason ? `${reason} (${address})` : faultsOf(answer).join('; '))],
];

export const refusalCommands = [
  defineCommand({
    name: 'refusals list',
    section: 'operator',
    calls: 'operator',
    summary: 'List refused requests of partners, and why they were refused.',
    details:
      'Newest first. Calls without a key that is known belong to no partner: they are in the log of the service alone.',
    options: {
      request: { value: 'id', summary: 'Only those with this x-request-id.' },
      partner: { value: 'id', summary: 'Only those of this partner.' },
      group: { value: 'id', summary: 'Only those for this practice group.' },
      limit: limitOption,
    },
    examples: ['refusals list --request import-42', 'refusals list --partner prt_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, options, out }) {
      const filter = {
        request_id: options.request,
        partner_id: options.partner,
        practice_group_id: options.group,
      };
      const page = await api.list(
        (query) =>
          api.operator<Page<PartnerRefusedRequest>>('GET', '/requests', { query: { ...query, ...filter } }),
        limitOf(options.limit),
      );
      const names = await namesOf(api, out, {
        partners: page.data.map(({ partner_id }) => partner_id),
        groups: page.data.map(({ practice_group_id }) => practice_group_id),
      });
      out.page(page, columns(names));
    },
  }),
];
