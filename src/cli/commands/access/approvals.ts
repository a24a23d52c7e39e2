import type { Approval } from '../../../contract/approval.ts';
import { approvalStatuses } from '../../../contract/approval.ts';
import type { Page } from '../../../contract/page.ts';
import { defineCommand } from '../../command.ts';
import { named } from '../../names.ts';
import type { Column } from '../../printer.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption } from '../limit.ts';

const section = 'operator' as const;
const calls = 'operator' as const;
const approval = [{ name: 'approval_id', summary: 'The ID of the approval.' }] as const;

const columns: Column<Approval>[] = [
  ['ID', ({ id }) => id],
  ['STATUS', ({ status }) => status],
  ['WHAT', ({ summary }) => summary],
  ['ASKED BY', ({ requested_by }) => named(requested_by?.name, requested_by?.id)],
  ['ASKED', ({ requested_at }) => requested_at],
  ['EXPIRES', ({ expires_at }) => expires_at],
];

interface Collected {
  operation: string;
  answer: object | null;
}

export const approvalCommands = [
  defineCommand({
    name: 'approvals list',
    section,
    calls,
    summary: 'List what waits for a second person, and what has, newest first.',
    options: {
      status: { value: 'status', summary: 'Only those.', choices: approvalStatuses },
      limit: limitOption,
    },
    examples: ['approvals list --status pending'],
    async run({ api, options, out }) {
      const filter = { status: options.status };
      const page = await api.list(
        (query) => api.operator<Page<Approval>>('GET', '/approvals', { query: { ...query, ...filter } }),
        limitOf(options.limit),
      );
      out.page(page, columns);
    },
  }),
  defineCommand({
    name: 'approvals show',
    section,
    calls,
    summary: 'Show an approval, with all that was asked for.',
    arguments: approval,
    examples: ['approvals show apv_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, out }) {
      out.record(await api.operator<Approval>('GET', `/approvals/${segment(args.approval_id)}`));
    },
  }),
  defineCommand({
    name: 'approvals approve',
    section,
    calls,
    summary: 'Approve what somebody else asked for. It is done at once, in the name of both.',
    arguments: approval,
    examples: ['approvals approve apv_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, out }) {
      out.record(await api.operator<Approval>('POST', `/approvals/${segment(args.approval_id)}/approve`));
    },
  }),
  defineCommand({
    name: 'approvals decline',
    section,
    calls,
    summary: 'Decline what waits, or withdraw what you asked for yourself.',
    arguments: approval,
    options: { reason: { value: 'text', summary: 'Why, as a sentence for whoever asked.', required: true } },
    examples: ['approvals decline apv_00Vb13pkZeDP1yAD86FW5V4Dr --reason Unknown'],
    async run({ api, args, options, out }) {
      const path = `/approvals/${segment(args.approval_id)}/decline`;
      out.record(await api.operator<Approval>('POST', path, { body: { reason: options.reason } }));
    },
  }),
  defineCommand({
    name: 'approvals collect',
    section,
    calls,
    summary: 'Collect what you asked for once it is approved, such as a new key. It is shown this once.',
    arguments: approval,
    examples: ['approvals collect apv_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, out }) {
      const path = `/approvals/${segment(args.approval_id)}/collect`;
      const collected = await api.operator<Collected>('POST', path);
      // For programs as the API answers it; people look for the key.
      if (out.isForPeople && collected.answer) out.record(collected.answer);
      else out.document(collected, () => 'It was done, and there is nothing to show.');
      if (collected.answer) out.note('It is not shown again: keep it safely now.');
    },
  }),
];
