import type { Me } from '../../contract/partner/me.ts';
import { defineCommand } from '../command.ts';
import { inLine } from '../printer.ts';

const declaration = {
  section: 'partner',
  calls: 'partner',
  details: 'A key alone is enough: no practice group has to be named.',
  async run({ api, out }) {
    const me = await api.aboutItself<Me>('/me');
    const { partner, key, practice_groups } = me;
    const groups = out.table(practice_groups, [
      ['GROUP', ({ id }) => id],
      ['NAME', ({ name }) => name],
      ['THROUGH', ({ through }) => (through ? `${through.name} (${through.id})` : null)],
      ['SCOPES', ({ scopes }) => scopes],
    ]);
    out.document(me, () =>
      [
        inLine(`${partner.name} (${partner.id})`),
        inLine(
          `Key ${key.id}${key.label === null ? '' : ` (${key.label})`}: ${key.rate_limit_per_minute} calls a minute, ${key.expires_at === null ? 'does not expire' : `expires ${key.expires_at}`}.`,
        ),
        groups,
      ].join('\n'),
    );
  },
} satisfies Partial<Parameters<typeof defineCommand>[0]>;

export const meCommands = [
  defineCommand({
    ...declaration,
    name: 'me',
    summary: 'Show whose key this is, what it may do, and for which practice groups.',
    examples: ['me'],
  }),
  defineCommand({ ...declaration, name: 'whoami', summary: 'The same as `me`.', examples: ['whoami'] }),
];
