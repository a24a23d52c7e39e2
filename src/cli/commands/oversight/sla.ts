import type { SlaReport } from '../../../contract/operator/oversight/sla.ts';
import { defineCommand } from '../../command.ts';
import { inLine } from '../../printer.ts';
import { segment } from '../../segment.ts';

export const slaCommand = defineCommand({
  name: 'sla',
  section: 'operator',
  calls: 'operator',
  summary: 'Measure the SLA of a partner in a month.',
  details:
    'From figures that are kept, against the targets of its agreement. Months are those of UTC. The same is a page to be printed: GET /operator/v1/partners/{id}/sla with Accept: text/html.',
  arguments: [
    { name: 'partner_id', summary: 'The ID of the partner.' },
    { name: 'month', summary: 'Such as 2026-11; the current one unless given.', optional: true },
  ],
  examples: ['sla prt_00Vb13pkZeDP1yAD86FW5V4Dr 2026-11'],
  async run({ api, args, out }) {
    const query = { month: args.month };
    const report = await api.operator<SlaReport>('GET', `/partners/${segment(args.partner_id)}/sla`, {
      query,
    });
    out.document(report, () => inWords(report, (rows) => out.table(rows, columns)));
  },
});

type Line = [string, string | number | null | undefined];
const columns = [
  ['MEASURE', ([name]: Line) => name],
  ['', ([, value]: Line) => value],
] as const;

function inWords(report: SlaReport, table: (rows: Line[]) => string): string {
  const { partner, month, calls, uptime, deliveries, latency_ms, delivery_seconds } = report;
  const rows: Line[] = [
    ['calls', calls?.total],
    ['calls that failed', calls?.failed],
    ['minutes down', uptime?.minutes_down],
    ['availability, %', report.availability_percent],
    ['latency p95, ms', latency_ms?.p95],
    ['delivered', deliveries?.delivered],
    ['given up', deliveries?.given_up],
    ['delivered, %', deliveries?.success_percent],
    ['delivery p95, s', delivery_seconds?.p95],
  ];
  const measured = rows.filter(([, value]) => value !== null && value !== undefined);
  const targets = (report.targets ?? []).map(({ measure, target, actual, met }) => {
    const verdict = met === null ? 'nothing to measure' : met ? 'met' : 'missed';
    return inLine(`${measure}: ${verdict} (target ${target}, actual ${actual ?? 'none'})`);
  });
  if (targets.length === 0)
    targets.push(
      inLine(
        `No targets are agreed in the agreement that was signed last: porter agreements list ${partner?.id}`,
      ),
    );
  const soFar = report.complete ? '' : ', so far';
  return [
    inLine(`${partner?.name}, ${month}${soFar}`),
    measured.length > 0 ? table(measured) : 'Nothing was measured.',
    ...targets,
  ].join('\n');
}
