import { scopeNames } from '../../../contract/access.ts';
import type { ApiKey } from '../../../contract/operator/access/keys.ts';
import type { Page } from '../../../contract/page.ts';
import { defineCommand } from '../../command.ts';
import { confirm, yesOption } from '../../confirm.ts';
import { UsageError } from '../../exit.ts';
import { named, namesOf } from '../../names.ts';
import { inLine, type Printer } from '../../printer.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption, wholeNumber } from '../limit.ts';

type IssuedKey = ApiKey & { key: string };

const key = [{ name: 'key_id', summary: 'The ID of the key, which is not the key itself.' }] as const;
const section = 'operator' as const;
const calls = 'operator' as const;

function showIssued(out: Printer, issued: IssuedKey): void {
  out.record(issued);
  out.note('The key is shown this once: hand it over safely now.');
}

/** It may have been about to expire before the overlap ends. */
function fateOf({ status, expires_at }: ApiKey): string {
  return inLine(status === 'active' ? `The old key works until ${expires_at}.` : 'The old key is revoked.');
}

/** The rotation is done, whatever comes after it. */
function untold(): string {
  return 'Until when the old key works is not known: see `porter keys list`.';
}

export const keyCommands = [
  defineCommand({
    name: 'keys issue',
    section,
    calls,
    summary: 'Issue an API key to a verified partner.',
    options: {
      partner: { value: 'id', summary: 'The partner.', required: true },
      group: { value: 'id', summary: 'The practice group that the key is tied to.', required: true },
      scopes: {
        value: 'names',
        summary: 'What the key may do, with commas between.',
        many: true,
        required: true,
        choices: ['all', ...scopeNames],
      },
      label: { value: 'text', summary: 'What to call it.' },
      'expires-at': { value: 'time', summary: 'Such as 2027-01-01T00:00:00Z; never unless given.' },
      'rate-limit': { value: 'count', summary: "Requests per minute; the partner's limit unless given." },
    },
    examples: [
      'keys issue --partner prt_00Vb13pkZeDP1yAD86FW5V4Dr --group riverside-surgery --scopes all',
      'keys issue --partner prt_00Vb13pkZeDP1yAD86FW5V4Dr --group riverside-surgery --scopes webhooks:read,webhooks:write,events:read',
    ],
    async run({ api, options, out }) {
      const body = {
        partner_id: options.partner,
        practice_group_id: options.group,
        scopes: options.scopes.includes('all') ? scopeNames : options.scopes,
        label: options.label,
        expires_at: options['expires-at'],
        rate_limit_per_minute:
          options['rate-limit'] === undefined
            ? undefined
            : wholeNumber(options['rate-limit'], '--rate-limit', 1),
      };
      showIssued(out, await api.operator('POST', '/keys', { body }));
    },
  }),
  defineCommand({
    name: 'keys rotate',
    section,
    calls,
    summary: 'Rotate a key. The old one keeps working for a while.',
    arguments: key,
    options: {
      overlap: {
        value: 'time',
        summary: 'How long the old key keeps working: 0, 90s, 30m, 12h, 7d. 24h unless given.',
      },
    },
    examples: [
      'keys rotate key_00Vb13pkZeDP1yAD86FW5V4Dr',
      'keys rotate key_00Vb13pkZeDP1yAD86FW5V4Dr --overlap 7d',
    ],
    async run({ api, args, options, out }) {
      const body = { overlap_seconds: options.overlap === undefined ? undefined : seconds(options.overlap) };
      const path = `/keys/${segment(args.key_id)}`;
      showIssued(out, await api.operator('POST', `${path}/rotate`, { body }));
      out.note(await api.operator<ApiKey>('GET', path).then(fateOf, untold));
    },
  }),
  defineCommand({
    name: 'keys revoke',
    section,
    calls,
    summary: 'Revoke a key. When this ends, it does not work any more.',
    details: 'On a terminal it asks first; elsewhere it wants --yes.',
    arguments: key,
    options: { yes: yesOption },
    examples: ['keys revoke key_00Vb13pkZeDP1yAD86FW5V4Dr --yes'],
    async run({ api, args, options, out, world }) {
      const path = `/keys/${segment(args.key_id)}`;
      await confirm({ world, options }, async () => {
        const { id, label, partner_id, practice_group_id } = await api.operator<ApiKey>('GET', path);
        const { partner, group } = await namesOf(api, out, {
          partners: [partner_id],
          groups: [practice_group_id],
        });
        return `Revoke the key ${named(label, id)} of ${partner(partner_id)} for ${group(practice_group_id)}? It cannot be taken back.`;
      });
      out.record(await api.operator<ApiKey>('POST', `${path}/revoke`));
    },
  }),
  defineCommand({
    name: 'keys list',
    section,
    calls,
    summary: 'List keys, without their secrets.',
    options: {
      partner: { value: 'id', summary: 'Only those of this partner.' },
      group: { value: 'id', summary: 'Only those tied to this practice group.' },
      limit: limitOption,
    },
    examples: ['keys list', 'keys list --group riverside-surgery'],
    async run({ api, options, out }) {
      const filter = { partner_id: options.partner, practice_group_id: options.group };
      const page = await api.list(
        (query) => api.operator<Page<ApiKey>>('GET', '/keys', { query: { ...query, ...filter } }),
        limitOf(options.limit),
      );
      const { partner, group } = await namesOf(api, out, {
        partners: page.data.map(({ partner_id }) => partner_id),
        groups: page.data.map(({ practice_group_id }) => practice_group_id),
      });
      out.page(page, [
        ['ID', ({ id }) => id],
        ['KEY', ({ prefix, last_four }) => `${prefix}…${last_four}`],
        ['LABEL', ({ label }) => label],
        ['STATUS', ({ status }) => status],
        ['PRACTICE GROUP', ({ practice_group_id }) => group(practice_group_id)],
        ['PARTNER', ({ partner_id }) => partner(partner_id)],
        ['CREATED', ({ created_at }) => created_at],
        ['EXPIRES', ({ expires_at }) => expires_at],
        ['LAST USED', ({ last_used_at }) => last_used_at],
        ['FROM', ({ last_used_from }) => last_used_from],
      ]);
    },
  }),
];

const UNITS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

function seconds(text: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text === '0' ? '0s' : text) ?? [];
  if (unit === undefined)
    throw new UsageError(`--overlap: "${text}" is not a time.`, 'Write it like 90s, 30m, 12h or 7d.');
  return Number(count) * UNITS[unit as keyof typeof UNITS];
}
