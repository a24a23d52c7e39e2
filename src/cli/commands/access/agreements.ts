import type { Agreement } from '../../../contract/operator/access/agreements.ts';
import type { Page } from '../../../contract/page.ts';
import type { Sla, SlaTargets } from '../../../contract/sla.ts';
import { defineCommand } from '../../command.ts';
import { UsageError } from '../../exit.ts';
import { inLine } from '../../printer.ts';
import { segment } from '../../segment.ts';
import { limitOf, limitOption, wholeNumber } from '../limit.ts';

const partner = [{ name: 'partner_id', summary: 'The ID of the partner.' }] as const;
const section = 'operator' as const;
const calls = 'operator' as const;

export const agreementCommands = [
  defineCommand({
    name: 'agreements list',
    section,
    calls,
    summary: 'List the agreements of a partner.',
    arguments: partner,
    options: { limit: limitOption },
    examples: ['agreements list prt_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, args, options, out }) {
      const path = `/partners/${segment(args.partner_id)}/agreements`;
      const page = await api.list(
        (query) => api.operator<Page<Agreement>>('GET', path, { query }),
        limitOf(options.limit),
      );
      out.page(page, [
        ['ID', ({ id }) => id],
        ['STATUS', ({ status }) => status],
        ['VERSION', ({ version }) => version],
        ['SIGNED', ({ signed_at }) => signed_at],
        ['ENDS', ({ ends_at }) => ends_at],
        ['LIMIT', ({ rate_limit_per_minute }) => rate_limit_per_minute],
        ['SLA', ({ sla }) => sla],
        ['KEYS', ({ active_keys }) => active_keys],
      ]);
    },
  }),
  defineCommand({
    name: 'agreements add',
    section,
    calls,
    summary: 'Record an agreement that a partner has signed.',
    details:
      'New keys are issued under the agreement that was signed last; those that there are stay under theirs. An SLA is told in words (--sla), or as targets that are measured.',
    arguments: partner,
    options: {
      'document-version': { value: 'text', summary: 'Which text was signed.', required: true },
      signatory: { value: 'name', summary: 'Who signed for the partner.', required: true },
      signed: {
        value: 'day',
        summary: 'When, such as 2026-11-14 (UTC) or a whole RFC 3339 time.',
        required: true,
      },
      ends: { value: 'day', summary: 'When it ends, if that is agreed.' },
      document: { value: 'url', summary: 'Where the signed document is.' },
      'rate-limit': { value: 'count', summary: 'Requests per minute for each key, if agreed.' },
      sla: { value: 'text', summary: 'The SLA, in words.' },
      availability: { value: 'percent', summary: 'Target: availability.' },
      'latency-p95': { value: 'ms', summary: 'Target: 95 % of the calls are answered within so long.' },
      'delivery-success': { value: 'percent', summary: 'Target: deliveries that arrive.' },
      'delivery-p95': { value: 'seconds', summary: 'Target: 95 % of the deliveries arrive within so long.' },
    },
    examples: [
      "agreements add prt_00Vb13pkZeDP1yAD86FW5V4Dr --document-version 2026-2 --signatory 'Ada Marsh' --signed 2026-11-14",
      "agreements add prt_00Vb13pkZeDP1yAD86FW5V4Dr --document-version 2026-2 --signatory 'Ada Marsh' --signed 2026-11-14 --rate-limit 600 --availability 99.9 --latency-p95 250",
    ],
    async run({ api, args, options, out }) {
      const { 'rate-limit': limit, ends } = options;
      const body = {
        version: options['document-version'],
        signatory: options.signatory,
        signed_at: momentOf(options.signed, '--signed'),
        ends_at: ends === undefined ? undefined : momentOf(ends, '--ends'),
        document_url: options.document,
        rate_limit_per_minute: limit === undefined ? undefined : wholeNumber(limit, '--rate-limit', 1),
        sla: slaOf(options.sla, {
          availability_percent: numberOf(options.availability, '--availability'),
          delivery_success_percent: numberOf(options['delivery-success'], '--delivery-success'),
          latency_ms: p95(numberOf(options['latency-p95'], '--latency-p95')),
          delivery_seconds: p95(numberOf(options['delivery-p95'], '--delivery-p95')),
        }),
      };
      const path = `/partners/${segment(args.partner_id)}/agreements`;
      const added = await api.operator<Agreement>('POST', path, { body });
      out.record(added);
      const { data } = await api.operator<Page<Agreement>>('GET', path, { query: { page_size: 100 } });
      const later = data.find(({ signed_at }) => signed_at > added.signed_at);
      if (later)
        out.note(
          inLine(
            `Another agreement was signed later, at ${later.signed_at}: new keys are issued under that one.`,
          ),
        );
    },
  }),
];

const p95 = (target: number | undefined) => (target === undefined ? undefined : { p95: target });

function slaOf(words: string | undefined, targets: SlaTargets): Sla | undefined {
  const isMeasured = Object.values(targets).some((target) => target !== undefined);
  if (words !== undefined && isMeasured)
    throw new UsageError('An SLA is told in words (--sla), or as targets, not as both.');
  return isMeasured ? targets : words;
}

/** A day means its beginning. */
function momentOf(text: string, option: string): string {
  const moment = /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text;
  if (!/^\d{4}-\d\d-\d\dT/.test(text) && moment === text)
    throw new UsageError(`${option}: "${text}" is no day such as 2026-11-14.`);
  return moment;
}

function numberOf(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}(\.\d{1,6})?$/.test(text)) throw new UsageError(`${option}: "${text}" is not a number.`);
  return Number(text);
}
