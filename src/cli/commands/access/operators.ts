import { roleNames } from '../../../contract/access.ts';
import type { Operator } from '../../../contract/operator/access/operators.ts';
import type { Page } from '../../../contract/page.ts';
import { defineCommand } from '../../command.ts';
import { confirm, yesOption } from '../../confirm.ts';
import { named } from '../../names.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption } from '../limit.ts';

const section = 'operator' as const;
const calls = 'operator' as const;

export const operatorCommands = [
  defineCommand({
    name: 'operators list',
    section,
    calls,
    summary: 'List the people and systems of the operator, without their tokens.',
    options: { limit: limitOption },
    examples: ['operators list'],
    async run({ api, options, out }) {
      const page = await api.list(
        (query) => api.operator<Page<Operator>>('GET', '/operators', { query }),
        limitOf(options.limit),
      );
      out.page(page, [
        ['ID', ({ id }) => id],
        ['NAME', ({ name }) => name],
        ['ROLE', ({ role }) => role],
        ['STATUS', ({ status }) => status],
        ['LABEL', ({ label }) => label],
        ['CREATED', ({ created_at }) => created_at],
        ['EXPIRES', ({ expires_at }) => expires_at],
        ['LAST USED', ({ last_used_at }) => last_used_at],
      ]);
    },
  }),
  defineCommand({
    name: 'operators create',
    section,
    calls,
    summary: 'Give a person or a system a token of its own, with one role.',
    options: {
      name: { value: 'name', summary: 'Who it is.', required: true },
      role: { value: 'role', summary: 'What it may do.', required: true, choices: roleNames },
      label: { value: 'text', summary: 'What the token is for, or where it is kept.' },
      'expires-at': { value: 'time', summary: 'Such as 2027-01-01T00:00:00Z; never unless given.' },
    },
    examples: ["operators create --name 'Ada Marsh' --role support"],
    async run({ api, options, out }) {
      const { name, role, label } = options;
      const body = { name, role, label, expires_at: options['expires-at'] };
      out.record(await api.operator<Operator & { token: string }>('POST', '/operators', { body }));
      out.note('The token is shown this once: hand it over safely now.');
    },
  }),
  defineCommand({
    name: 'operators revoke',
    section,
    calls,
    summary: 'Revoke a token of an operator. When this ends, it does not work any more.',
    details: 'On a terminal it asks first; elsewhere it wants --yes. The last admin cannot be revoked.',
    arguments: [{ name: 'operator_id', summary: 'The ID of the operator, which is not the token.' }],
    options: { yes: yesOption },
    examples: ['operators revoke opr_00Vb13pkZeDP1yAD86FW5V4Dr --yes'],
    async run({ api, args, options, out, world }) {
      const path = `/operators/${segment(args.operator_id)}`;
      await confirm({ world, options }, async () => {
        const { id, name, role } = await api.operator<Operator>('GET', path);
        return `Revoke the token of ${named(name, id)}, ${role}? It cannot be taken back.`;
      });
      out.record(await api.operator<Operator>('POST', `${path}/revoke`));
    },
  }),
];
