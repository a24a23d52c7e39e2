import type { Network } from '../../../contract/operator/access/networks.ts';
import type { Page } from '../../../contract/page.ts';
import { type Call, defineCommand } from '../../command.ts';
import { Waiting } from '../../exit.ts';
import { namesOf } from '../../names.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption } from '../limit.ts';

const members = [
  { name: 'network_id', summary: 'The ID of the network.' },
  { name: 'group', summary: 'The IDs of practice groups.', many: true },
] as const;
const section = 'operator' as const;
const calls = 'operator' as const;

/** Each group in turn, then the network as it is. If one fails, it is told which, what was done before it and what was not. */
async function change({ api, args, out }: Call<typeof members>, method: 'PUT' | 'DELETE'): Promise<void> {
  const network = `/networks/${segment(args.network_id)}`;
  // All of them are looked at before the first is sent.
  const paths = args.group.map((group) => `${network}/members/${segment(group)}`);
  for (const [at, path] of paths.entries())
    await api.operator(method, path).catch((error) => {
      if (at > 0) out.note(`Done before it failed: ${args.group.slice(0, at).join(', ')}.`);
      const others = args.group.slice(at + 1).join(', ');
      if (error instanceof Waiting) {
        if (others) out.note(`Not asked for yet: ${others}.`);
      } else if (args.group.length > 1)
        out.note(`It failed at ${args.group[at]}.${others && ` Not done: ${others}.`}`);
      throw error;
    });
  out.record(await api.operator<Network>('GET', network));
}

export const networkCommands = [
  defineCommand({
    name: 'networks list',
    section,
    calls,
    summary: 'List networks and their practice groups.',
    options: { limit: limitOption },
    examples: ['networks list'],
    async run({ api, options, out }) {
      const page = await api.list(
        (query) => api.operator<Page<Network>>('GET', '/networks', { query }),
        limitOf(options.limit),
      );
      const { group } = await namesOf(api, out, {
        groups: page.data.flatMap(({ practice_group_ids }) => practice_group_ids),
      });
      out.page(page, [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name],
        ['PRACTICE GROUPS', ({ practice_group_ids }) => practice_group_ids.map(group)],
        ['CREATED', ({ created_at }) => created_at],
      ]);
    },
  }),
  defineCommand({
    name: 'networks create',
    section,
    calls,
    summary: 'Create a network of practice groups.',
    arguments: [{ name: 'group', summary: 'The IDs of practice groups.', many: true, optional: true }],
    options: { name: { value: 'name', summary: 'What to call it.', required: true } },
    examples: ["networks create --name 'North network' riverside-surgery hillview-hub"],
    async run({ api, args, options: { name }, out }) {
      const body = { name, practice_group_ids: args.group };
      out.record(await api.operator<Network>('POST', '/networks', { body }));
    },
  }),
  defineCommand({
    name: 'networks add',
    section,
    calls,
    summary: 'Add practice groups to a network.',
    arguments: members,
    examples: ['networks add net_00Vb13pkZeDP1yAD86FW5V4Dr hillview-hub'],
    run: (call) => change(call, 'PUT'),
  }),
  defineCommand({
    name: 'networks remove',
    section,
    calls,
    summary: 'Remove practice groups from a network. When this ends, no call passes because of it.',
    arguments: members,
    examples: ['networks remove net_00Vb13pkZeDP1yAD86FW5V4Dr hillview-hub'],
    run: (call) => change(call, 'DELETE'),
  }),
];
