import type { Me } from '../../contract/partner/me.ts';
import type { Api } from '../api.ts';
import { defineCommand } from '../command.ts';
import { named } from '../names.ts';
import { inLine, type Printer } from '../printer.ts';

/** What `GET /operator/v1/me` says at least. */
interface OperatorMe {
  operator: { id: string; name: string; role: string };
  environment: string;
  version: string;
}

export const meCommands = [
  defineCommand({
    name: 'me',
    section: 'partner',
    calls: 'partner',
    summary: 'Show whose key this is, what it may do, and for which practice groups.',
    details: 'A key alone is enough: no practice group has to be named.',
    examples: ['me'],
    run: ({ api, out }) => showKey(api, out),
  }),
  defineCommand({
    name: 'whoami',
    section: 'setUp',
    calls: 'either',
    summary: 'Show whose token or key is used, and where.',
    details: 'With the token of an operator: who it is, and its role. With an API key: the same as `me`.',
    examples: ['whoami', 'whoami --profile staging'],
    async run({ api, out }) {
      const { url, operatorToken } = await api.connection();
      if (!operatorToken) return showKey(api, out);
      const me = await api.operator<OperatorMe>('GET', '/me');
      const { operator, environment, version } = me;
      out.document(me, () =>
        [
          inLine(`${named(operator.name, operator.id)}, ${operator.role}`),
          inLine(`${url}: ${environment}, version ${version}`),
        ].join('\n'),
      );
    },
  }),
];

async function showKey(api: Api, out: Printer): Promise<void> {
  const me = await api.aboutItself<Me>('/me');
  const { partner, key, practice_groups } = me;
  const groups = out.table(practice_groups, [
    ['GROUP', ({ id }) => id],
    ['NAME', ({ name }) => name],
    ['THROUGH', ({ through }) => (through ? named(through.name, through.id) : null)],
    ['SCOPES', ({ scopes }) => scopes],
  ]);
  out.document(me, () =>
    [
      inLine(named(partner.name, partner.id)),
      inLine(
        `Key ${named(key.label, key.id)}: ${key.rate_limit_per_minute} calls a minute, ${key.expires_at === null ? 'does not expire' : `expires ${key.expires_at}`}.`,
      ),
      groups,
    ].join('\n'),
  );
}
