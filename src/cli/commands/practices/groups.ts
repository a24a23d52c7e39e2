import type { OperatorPracticeGroup } from '../../../contract/operator/practices/practice-groups.ts';
import type { Page } from '../../../contract/page.ts';
import { defineCommand } from '../../command.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption } from '../limit.ts';

const section = 'operator' as const;
const calls = 'operator' as const;

export const groupCommands = [
  defineCommand({
    name: 'groups list',
    section,
    calls,
    summary: 'List practice groups.',
    options: { limit: limitOption },
    examples: ['groups list'],
    async run({ api, options, out }) {
      const page = await api.list(
        (query) => api.operator<Page<OperatorPracticeGroup>>('GET', '/practice-groups', { query }),
        limitOf(options.limit),
      );
      out.page(page, [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name],
        ['ODS CODE', ({ ods_code }) => ods_code],
        ['TIME ZONE', ({ timezone }) => timezone],
        ['CREATED', ({ created_at }) => created_at],
      ]);
    },
  }),
  defineCommand({
    name: 'groups show',
    section,
    calls,
    summary: 'Show a practice group.',
    arguments: [{ name: 'group_id', summary: 'The ID of the practice group.' }],
    examples: ['groups show riverside-surgery'],
    async run({ api, args, out }) {
      out.record(
        await api.operator<OperatorPracticeGroup>('GET', `/practice-groups/${segment(args.group_id)}`),
      );
    },
  }),
  defineCommand({
    name: 'groups create',
    section,
    calls,
    summary: 'Create a practice group.',
    details: 'Many at once, with their forms and submission types: `porter import`.',
    options: {
      name: { value: 'name', summary: 'What it is called.', required: true },
      id: { value: 'id', summary: 'Its ID; one is made unless given.' },
      'ods-code': { value: 'code', summary: 'Its ODS code.' },
      timezone: { value: 'name', summary: 'Such as Europe/London, which it is unless given.' },
    },
    examples: ["groups create --id larkhill --name 'Larkhill Practice' --ods-code A81001"],
    async run({ api, options, out }) {
      const { id, name, timezone } = options;
      const body = { id, name, ods_code: options['ods-code'], timezone };
      out.record(await api.operator<OperatorPracticeGroup>('POST', '/practice-groups', { body }));
    },
  }),
];
