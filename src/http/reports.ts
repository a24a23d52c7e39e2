import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { SlaReport } from '../contract/operator/oversight/sla.ts';
import { CALL_MS, DELIVERY_SECONDS } from '../contract/sla.ts';
import { type Exchange, pageHeaders, respond } from './exchange.ts';

/** Answers as pages for people: to be read, and printed. Nothing in them is loaded from anywhere, and nothing runs. */

export function wantsPage({ accept = '' }: IncomingHttpHeaders): boolean {
  return /(^|,)\s*text\/html\s*(;|,|$)/i.test(accept);
}

const pages: Record<string, (body: never) => string> = { getSla: slaPage };

export function respondPage(exchange: Exchange, operationId: string, body: unknown): void {
  const page = pages[operationId];
  if (!page) throw new Error(`${operationId} has no page`);
  exchange.outgoing.push('content-security-policy', POLICY, ...pageHeaders);
  respond(exchange, 200, page(body as never), 'text/html; charset=utf-8');
}

const STYLE = `
  :root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1b1f24; background: #fff; }
  body { max-width: 46rem; margin: 2.5rem auto; padding: 0 1.25rem; }
  h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
  h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
  p { margin: .25rem 0; overflow-wrap: anywhere; }
  .aside { color: #57606a; }
  table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
  caption { text-align: left; font-weight: 600; padding: .25rem 0; }
  th, td { text-align: left; font-weight: 400; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid #d0d7de; }
  th:not(:first-child), td { text-align: right; padding-right: 0; padding-left: .75rem; white-space: nowrap; }
  thead th { font-weight: 600; border-bottom: 2px solid #57606a; }
  .missed { font-weight: 700; color: #a40e26; }
  @media (max-width: 30rem) {
    th:not(:first-child), td { padding-left: .4rem; white-space: normal; }
  }
  @page { size: A4; margin: 16mm; }
  @media print {
    :root { font-size: 10pt; line-height: 1.35; }
    body { max-width: none; margin: 0; padding: 0; }
    h2 { margin-top: 1.2rem; }
    th, td { padding-top: .25rem; padding-bottom: .25rem; }
    section { break-inside: avoid; }
  }
`;

/** The one style of the page, by its hash; nothing else. */
const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const escapes: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (one) => escapes[one] as string);

const number = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 3 });

const MEASURES: Record<string, string> = {
  availability_percent: 'Availability',
  delivery_success_percent: 'Deliveries that arrived',
  'latency_ms.p50': 'Half of the calls answered within',
  'latency_ms.p95': '95 % of the calls answered within',
  'latency_ms.p99': '99 % of the calls answered within',
  'delivery_seconds.p50': 'Half of the events received within',
  'delivery_seconds.p95': '95 % of the events received within',
  'delivery_seconds.p99': '99 % of the events received within',
};

function unitOf(measure: string): string {
  if (measure.endsWith('percent')) return '\u00a0%';
  return measure.startsWith('latency') ? '\u00a0ms' : '\u00a0s';
}

function slaPage(report: SlaReport): string {
  const { partner, agreement, calls, uptime, deliveries } = report;
  const month = new Date(`${report.month}-01T00:00:00Z`).toLocaleDateString('en-GB', {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const title = `Service levels of ${partner.name}, ${month}`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p class="aside">${escapeHtml(partner.id)}${report.complete ? '' : ' · The month is not over: these are the figures so far.'}</p>
<p>${escapeHtml(agreementLine(agreement))}</p>
${targetsTable(report)}
<section>
<h2>Calls</h2>
${table([
  ['Calls', number(calls.total)],
  ['Failed (5xx)', number(calls.failed)],
  ['Refused (4xx)', number(calls.refused)],
  ['Over the rate limit (429)', number(calls.rate_limited)],
  ['Not failed', percent(calls.answered_percent)],
  ...times(report.latency_ms, 'Answered within', '\u00a0ms', CALL_MS.at(-1)),
])}
</section>
<section>
<h2>The service</h2>
${table([
  ['Minutes', number(uptime.minutes)],
  ['Minutes in which it did not run', number(uptime.minutes_down)],
  ['Ran', percent(uptime.percent)],
  ['Availability: the lower of what ran and what did not fail', percent(report.availability_percent)],
])}
</section>
<section>
<h2>Deliveries</h2>
${table([
  ['Arrived', number(deliveries.delivered)],
  ['Given up', number(deliveries.given_up)],
  ['Attempts that were repeated', number(deliveries.retried)],
  ['Arrived, of those that came to an end', percent(deliveries.success_percent)],
  ...times(report.delivery_seconds, 'Received within', '\u00a0s', DELIVERY_SECONDS.at(-1)),
])}
</section>
<p class="aside">Times are rounded up to the bounds by which they are counted. Days and months are those of UTC.</p>
</main>
</body>
</html>
`;
}

function agreementLine(agreement: SlaReport['agreement']): string {
  if (!agreement) return 'No agreement was in force.';
  const named = agreement.version === null ? 'Agreement' : `Agreement ${agreement.version}`;
  const until = agreement.ends_at === null ? '' : `, until ${agreement.ends_at.slice(0, 10)}`;
  const sla = agreement.sla === null ? 'It names no SLA.' : `SLA: ${agreement.sla}.`;
  return `${named}, signed on ${agreement.signed_at.slice(0, 10)}${until}. ${sla}`;
}

function targetsTable({ targets }: SlaReport): string {
  if (targets.length === 0) return '';
  const rows = targets.map(({ measure, target, actual, met }) => {
    const unit = unitOf(measure);
    const told = actual === null ? (met === null ? '–' : 'longer') : `${number(actual)}${unit}`;
    const verdict = met === null ? 'no data' : met ? 'met' : '<span class="missed">missed</span>';
    const name = escapeHtml(MEASURES[measure] ?? measure);
    return `<tr><th scope="row">${name}</th><td>${number(target)}${unit}</td><td>${told}</td><td>${verdict}</td></tr>`;
  });
  return `<section>
<h2>Targets</h2>
<table><thead><tr><th scope="col">Measure</th><th scope="col">Target</th><th scope="col">Actual</th><th scope="col">Result</th></tr></thead>
<tbody>${rows.join('\n')}</tbody></table>
</section>`;
}

function table(rows: readonly (readonly [string, string])[]): string {
  const lines = rows.map(
    ([name, value]) => `<tr><th scope="row">${escapeHtml(name)}</th><td>${value}</td></tr>`,
  );
  return `<table><tbody>${lines.join('\n')}</tbody></table>`;
}

const percent = (value: number | null) => (value === null ? '–' : `${number(value)}\u00a0%`);

function times(told: SlaReport['latency_ms'], words: string, unit: string, last = 0): [string, string][] {
  if (!told) return [];
  const longer = `more than ${number(last)}${unit}`;
  const of = (value: number | null) => (value === null ? longer : `${number(value)}${unit}`);
  return [
    [`${words}: half of them`, of(told.p50)],
    [`${words}: 95 %`, of(told.p95)],
    [`${words}: 99 %`, of(told.p99)],
  ];
}
