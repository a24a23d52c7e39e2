import type { Change } from '../../../contract/operator/practices/changes.ts';
import type { Page } from '../../../contract/page.ts';
import { changeStates } from '../../../contract/partner/changes.ts';
import type { Api } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import { namesOf } from '../../names.ts';
import type { Column, Printer } from '../../printer.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption } from '../limit.ts';

const section = 'operator' as const;
const calls = 'operator' as const;

const columns = (group: (id: string) => string | null): Column<Change>[] => [
  ['ID', ({ id }) => id],
  ['STATE', ({ state }) => state],
  ['GROUP', ({ practice_group_id }) => group(practice_group_id)],
  ['TYPE', ({ object_id }) => object_id],
  ['CHANGED', ({ after }) => Object.keys(after ?? {}).join(', ')],
  ['AT', ({ at }) => at],
  ['REASON', ({ reason }) => reason],
];

async function show(
  api: Api,
  out: Printer,
  page: { data: Change[]; next_cursor: string | null },
): Promise<void> {
  const groups = page.data.map(({ practice_group_id }) => practice_group_id);
  out.page(page, columns((await namesOf(api, out, { groups })).group));
}

const changeIds = [{ name: 'change_id', summary: 'The IDs of changes.', many: true }] as const;

export const changeCommands = [
  defineCommand({
    name: 'changes list',
    section,
    calls,
    summary: 'List what partners changed and what became of it, oldest first.',
    details: 'What is stuck: --state pending.',
    options: {
      state: { value: 'state', summary: 'Only those.', choices: changeStates },
      group: { value: 'id', summary: 'Only those of this practice group.' },
      limit: limitOption,
    },
    examples: ['changes list --state pending', 'changes list --group pg_larkhill'],
    async run({ api, options, out }) {
      const filter = { state: options.state, practice_group_id: options.group };
      const page = await api.list(async (query) => {
        const { has_more, next_cursor, ...feed } = await api.operator<Page<Change> & { has_more: boolean }>(
          'GET',
          '/changes',
          { query: { ...query, ...filter } },
        );
        // The feed has a cursor at its end, too, for whoever comes again.
        return { ...feed, next_cursor: has_more ? next_cursor : null };
      }, limitOf(options.limit));
      await show(api, out, page);
    },
  }),
  defineCommand({
    name: 'changes show',
    section,
    calls,
    summary: 'Show changes, with the fields before and after.',
    arguments: changeIds,
    examples: ['changes show chg_2a_9f86d081884c7d65'],
    async run({ api, args, out }) {
      for (const id of args.change_id) {
        const change = await api.operator<Change>('GET', `/changes/${segment(id)}`);
        out.document(change, () => JSON.stringify(change, null, 2));
      }
    },
  }),
  defineCommand({
    name: 'changes applied',
    section,
    calls,
    summary: 'Say for the practice software that it has these changes.',
    arguments: changeIds,
    examples: ['changes applied chg_2a_9f86d081884c7d65'],
    async run({ api, args, out }) {
      const data: Change[] = [];
      try {
        for (const id of args.change_id)
          data.push(await api.operator('POST', `/changes/${segment(id)}/applied`));
      } finally {
        // Also of those before one that failed.
        if (data.length > 0) await show(api, out, { data, next_cursor: null });
      }
    },
  }),
  defineCommand({
    name: 'changes rejected',
    section,
    calls,
    summary: 'Say for the practice software that it does not take a change.',
    arguments: [{ name: 'change_id', summary: 'The ID of the change.' }],
    options: { reason: { value: 'text', summary: 'Why, as a sentence for the partner.', required: true } },
    examples: ['changes rejected chg_2a_9f86d081884c7d65 --reason Closed'],
    async run({ api, args, options, out }) {
      const change: Change = await api.operator('POST', `/changes/${segment(args.change_id)}/rejected`, {
        body: { reason: options.reason },
      });
      await show(api, out, { data: [change], next_cursor: null });
    },
  }),
];
