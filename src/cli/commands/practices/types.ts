import type { Page } from '../../../contract/page.ts';
import type { SubmissionType } from '../../../contract/partner/submission-types.ts';
import type { Request } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption } from '../limit.ts';

const section = 'partner' as const;
const calls = 'partner' as const;
const PATH = '/care-nav/submission-types';

export const typeCommands = [
  defineCommand({
    name: 'types list',
    section,
    calls,
    summary: 'List the submission types of a practice group.',
    options: { limit: limitOption },
    examples: ['types list', 'types list --group hillview-hub'],
    async run({ api, options, out }) {
      const read = (query: Request['query']) => api.partner<Page<SubmissionType>>('GET', PATH, { query });
      out.page(await api.list(read, limitOf(options.limit)), [
        ['ID', ({ id }) => id],
        ['TITLE', ({ title }) => title],
        ['TYPE', ({ type }) => type],
        ['PRIORITY', ({ default_priority }) => default_priority],
        ['TODAY', ({ forms_submitted_today }) => forms_submitted_today],
        ['DAILY LIMIT', ({ daily_limit }) => daily_limit],
        ['SUSPENDED', ({ suspended }) => suspended],
      ]);
    },
  }),
  defineCommand({
    name: 'types show',
    section,
    calls,
    summary: 'Show a submission type.',
    arguments: [{ name: 'type_id', summary: 'The ID of the submission type.' }],
    examples: ['types show symptoms'],
    async run({ api, args, out }) {
      out.record(await api.partner<SubmissionType>('GET', `${PATH}/${segment(args.type_id)}`));
    },
  }),
];
