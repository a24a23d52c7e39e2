import { type Partner, partnerStatuses } from '../../../contract/operator/access/partners.ts';
import type { Page } from '../../../contract/page.ts';
import { type Call, defineCommand } from '../../command.ts';
import { confirm, yesOption } from '../../confirm.ts';
import { named } from '../../names.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption, wholeNumber } from '../limit.ts';

const partner = [{ name: 'partner_id', summary: 'The ID of the partner.' }] as const;
const section = 'operator' as const;
const calls = 'operator' as const;

/** One step on a partner's way, and the partner as it is then. */
async function step({ api, args, out }: Call<typeof partner>, verb: string, body?: object): Promise<void> {
  out.record(await api.operator<Partner>('POST', `/partners/${segment(args.partner_id)}/${verb}`, { body }));
}

export const partnerCommands = [
  defineCommand({
    name: 'partners list',
    section,
    calls,
    summary: 'List partners.',
    options: {
      status: { value: 'status', summary: 'Only those.', choices: partnerStatuses },
      limit: limitOption,
    },
    examples: ['partners list', 'partners list --status verified'],
    async run({ api, options, out }) {
      const { status } = options;
      const page = await api.list(
        (query) => api.operator<Page<Partner>>('GET', '/partners', { query: { ...query, status } }),
        limitOf(options.limit),
      );
      out.page(page, [
        ['ID', ({ id }) => id],
        ['STATUS', ({ status }) => status],
        ['NAME', ({ name }) => name],
        ['CONTACT', ({ contact_email }) => contact_email],
        ['CREATED', ({ created_at }) => created_at],
      ]);
    },
  }),
  defineCommand({
    name: 'partners create',
    section,
    calls,
    summary: 'Create a partner: its onboarding begins.',
    details: 'What follows: `porter partners sign-agreement`, `porter partners verify`, `porter keys issue`.',
    options: {
      name: { value: 'name', summary: 'The name of the company.', required: true },
      email: { value: 'address', summary: 'Whom to write to.', required: true },
    },
    examples: ["partners create --name 'Acme Care' --email dev@acme.example"],
    async run({ api, options: { name, email }, out }) {
      out.record(await api.operator<Partner>('POST', '/partners', { body: { name, contact_email: email } }));
    },
  }),
  defineCommand({
    name: 'partners show',
    section,
    calls,
    summary: 'Show a partner.',
    arguments: partner,
    examples: ['partners show prt_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, out }) {
      out.record(await api.operator<Partner>('GET', `/partners/${segment(args.partner_id)}`));
    },
  }),
  defineCommand({
    name: 'partners sign-agreement',
    section,
    calls,
    summary: 'Record a signed partner agreement.',
    arguments: partner,
    options: {
      'rate-limit': { value: 'count', summary: 'Requests per minute for each key, if agreed.' },
      sla: { value: 'text', summary: 'The SLA, if agreed.' },
    },
    examples: [
      'partners sign-agreement prt_00Vb13pkZeDP1yAD86FW5V4Dr',
      'partners sign-agreement prt_00Vb13pkZeDP1yAD86FW5V4Dr --rate-limit 600',
    ],
    run(call) {
      const { 'rate-limit': limit, sla } = call.options;
      const rate_limit_per_minute = limit === undefined ? undefined : wholeNumber(limit, '--rate-limit', 1);
      return step(call, 'sign-agreement', { rate_limit_per_minute, sla });
    },
  }),
  defineCommand({
    name: 'partners verify',
    section,
    calls,
    summary: 'Verify a partner, or lift a suspension.',
    arguments: partner,
    examples: ['partners verify prt_00Vb13pkZeDP1yAD86FW5V4Dr'],
    run: (call) => step(call, 'verify'),
  }),
  defineCommand({
    name: 'partners suspend',
    section,
    calls,
    summary: 'Suspend a partner. When this ends, none of its keys works any more.',
    details: 'On a terminal it asks first; elsewhere it wants --yes.',
    arguments: partner,
    options: { yes: yesOption },
    examples: ['partners suspend prt_00Vb13pkZeDP1yAD86FW5V4Dr --yes'],
    async run(call) {
      await confirm(call, async () => {
        const path = `/partners/${segment(call.args.partner_id)}`;
        const { id, name } = await call.api.operator<Partner>('GET', path);
        return `Suspend ${named(name, id)}? None of its keys works then, and nothing is delivered to it.`;
      });
      await step(call, 'suspend');
    },
  }),
];
