import { useQuery } from '@tanstack/react-query';
import { one } from '../../api/client.ts';
import type { Partner, SlaReport } from '../../api/generated.ts';
import { Pick, useFilters } from '../../parts/filters.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Facts, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';

const MONTHS = 13;
const monthName = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** This month and the twelve before it, by UTC, as the report counts. */
function months(): { value: string; title: string }[] {
  const now = new Date();
  return Array.from({ length: MONTHS }, (_, back) => {
    const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back));
    return { value: month.toISOString().slice(0, 7), title: monthName.format(month) };
  });
}

export function PickMonth() {
  const { values, set } = useFilters(['month']);
  const [current, ...earlier] = months();
  return (
    <Pick
      label="Month"
      value={values.month}
      choices={earlier}
      any={`${current?.title}, so far`}
      onChange={(month) => set('month', month)}
    />
  );
}

/** How they were served in a month, against what was agreed. */
export function Sla({ partner: { id } }: { partner: Partner }) {
  const { values } = useFilters(['month']);
  const query = useQuery(one('getSla', { params: { id }, query: { month: values.month } }));
  const print = `/operator/v1/partners/${id}/sla${values.month ? `?month=${values.month}` : ''}`;
  return (
    <Section
      title="How they were served"
      actions={
        <>
          <PickMonth />
          <a className="button" href={print} target="_blank" rel="noreferrer">
            Page to print
          </a>
        </>
      }
    >
      <Loaded query={query}>{(report) => <Report of={report} />}</Loaded>
    </Section>
  );
}

const percent = (value: number | null): string => (value === null ? 'nothing to measure' : `${value} %`);

export function Report({ of: report }: { of: SlaReport }) {
  const { agreement, targets, calls, deliveries, latency_ms, delivery_seconds } = report;
  return (
    <>
      <Facts
        of={{
          Agreement: agreement ? (agreement.version ?? 'one without a version') : 'none was in force',
          Availability: percent(report.availability_percent),
          Calls: `${calls.total}, of these ${calls.refused} refused, ${calls.rate_limited} over the limit, ${calls.failed} failed`,
          '95 % answered within': latency_ms === null ? 'nothing to measure' : within(latency_ms.p95, 'ms'),
          Deliveries: `${deliveries.delivered} arrived, ${deliveries.given_up} given up`,
          '95 % delivered within':
            delivery_seconds === null ? 'nothing to measure' : within(delivery_seconds.p95, 's'),
          'The service was down': `${report.uptime.minutes_down} of ${report.uptime.minutes} minutes`,
        }}
      />
      <Table
        label="Targets"
        items={targets}
        keyOf={({ measure }) => measure}
        empty={
          agreement?.sla
            ? `What was agreed is in words, and not measured: “${agreement.sla}”.`
            : 'No targets were agreed.'
        }
        columns={[
          { title: 'Target', width: '3fr', cell: ({ measure }) => measures[measure] ?? measure },
          { title: 'Agreed', width: '1fr', cell: ({ target }) => target },
          { title: 'Was', width: '1fr', cell: ({ actual }) => actual ?? '–' },
          { title: 'Met', width: '1fr', cell: ({ met }) => <Met of={met} /> },
        ]}
      />
    </>
  );
}

const measures: Record<string, string> = {
  availability_percent: 'Available, %',
  delivery_success_percent: 'Deliveries that arrived, %',
  'latency_ms.p50': 'Half of the calls answered within, ms',
  'latency_ms.p95': '95 % of the calls answered within, ms',
  'latency_ms.p99': '99 % of the calls answered within, ms',
  'delivery_seconds.p50': 'Half of the deliveries received within, s',
  'delivery_seconds.p95': '95 % of the deliveries received within, s',
  'delivery_seconds.p99': '99 % of the deliveries received within, s',
};

const within = (value: number | null, unit: string): string =>
  value === null ? `longer than is counted` : `${value} ${unit}`;

function Met({ of: met }: { of: boolean | null }) {
  if (met === null) return <span className="soft">nothing to measure</span>;
  return met ? <State kind="fine">met</State> : <State kind="failing">missed</State>;
}
