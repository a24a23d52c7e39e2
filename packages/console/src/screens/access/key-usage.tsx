import { useQuery } from '@tanstack/react-query';
import { ask } from '../../api/client.ts';
import type { ApiKey, PartnerUsageEntry } from '../../api/generated.ts';
import { DayBars, lastDays } from '../../parts/day-bars.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { OperationName } from '../operation-name.tsx';

const DAYS = 30;
const outcomes = ['ok', 'refused', 'rate_limited', 'failed'] as const;

/** Everything that was counted for a key: a month of one key is a few pages. */
async function usageOf(key: ApiKey, signal: AbortSignal): Promise<PartnerUsageEntry[]> {
  const entries: PartnerUsageEntry[] = [];
  let cursor: string | undefined;
  do {
    const query = { partner_id: key.partner_id, key_id: key.id, page_size: 100, cursor };
    const { data } = await ask('listPartnerUsage', { query }, { signal });
    entries.push(...data.data);
    cursor = data.next_cursor ?? undefined;
  } while (cursor);
  return entries;
}

export function KeyUsage({ of: key }: { of: ApiKey }) {
  const query = useQuery({
    queryKey: ['listPartnerUsage', { key_id: key.id }],
    queryFn: ({ signal }) => usageOf(key, signal),
  });
  return (
    <Section title="Calls">
      <Loaded query={query} rows={4}>
        {(entries) => (
          <>
            <DayBars
              label="Calls by day"
              unit={['call', 'calls']}
              parts={[
                { title: 'answered', tone: 'brand' },
                { title: 'refused', tone: 'amber' },
                { title: 'over the limit', tone: 'soft-bar' },
                { title: 'failed', tone: 'red' },
              ]}
              days={lastDays(DAYS, Date.now()).map((day) => ({
                day,
                counts: outcomes.map((outcome) =>
                  sumOf(entries.filter((entry) => entry.day === day && entry.outcome === outcome)),
                ),
              }))}
            />
            <Table
              label="Calls by operation"
              items={byOperation(entries)}
              keyOf={({ operation }) => operation}
              empty="Nobody has called with it in the last 30 days."
              columns={[
                { title: 'Operation', width: '3fr', cell: nameOf },
                { title: 'Answered', width: '1fr', cell: ({ counts }) => counts[0] },
                { title: 'Refused', width: '1fr', cell: ({ counts }) => counts[1] },
                { title: 'Over the limit', width: '1fr', wideOnly: true, cell: ({ counts }) => counts[2] },
                { title: 'Failed', width: '1fr', wideOnly: true, cell: ({ counts }) => counts[3] },
              ]}
            />
          </>
        )}
      </Loaded>
    </Section>
  );
}

const sumOf = (entries: readonly PartnerUsageEntry[]): number =>
  entries.reduce((sum, { count }) => sum + count, 0);

/** What was asked for is no operation of the API. */
const NONE = 'none';
const nameOf = ({ operation }: { operation: string }) =>
  operation === NONE ? 'no such operation' : <OperationName id={operation} withId />;

function byOperation(entries: readonly PartnerUsageEntry[]) {
  return Object.entries(Object.groupBy(entries, ({ operation }) => operation ?? NONE))
    .map(([operation, its = []]) => ({
      operation,
      total: sumOf(its),
      counts: outcomes.map((outcome) => sumOf(its.filter((entry) => entry.outcome === outcome))),
    }))
    .sort((a, b) => b.total - a.total);
}
