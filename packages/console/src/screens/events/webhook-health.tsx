import { useQuery } from '@tanstack/react-query';
import { one } from '../../api/client.ts';
import type { WebhookHealthPoint } from '../../api/generated.ts';
import { ages, sinceHours } from '../../parts/ages.ts';
import { Buckets } from '../../parts/buckets.tsx';
import { Pick, useFilters } from '../../parts/filters.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty, Section } from '../../parts/page.tsx';

const parts = [
  { title: 'arrived', tone: 'fine' },
  { title: 'failed, to be retried', tone: 'amber' },
  { title: 'given up', tone: 'red' },
] as const;

/** So that a bar is as wide as a finger, whatever the time. */
const steps: Record<string, '1m' | '15m' | '6h'> = { 1: '1m', 24: '15m', 168: '6h' };
const DAY = '24';

export function WebhookHealth({ id }: { id: string }) {
  const { values, set } = useFilters(['hours']);
  const hours = values.hours ?? DAY;
  const query = useQuery(
    one('getWebhookHealth', {
      params: { id },
      query: { since: sinceHours(hours), step: steps[hours] ?? '15m' },
    }),
  );
  return (
    <Section
      title="Health"
      actions={
        <Pick
          label="Time"
          value={values.hours}
          choices={ages.filter(({ value }) => value !== DAY)}
          any="in the last 24 hours"
          onChange={(value) => set('hours', value)}
        />
      }
    >
      <Loaded query={query} rows={2}>
        {({ data }) =>
          data.every(({ delivered, retried, given_up }) => delivered + retried + given_up === 0) ? (
            <Empty>Nothing was sent in this time.</Empty>
          ) : (
            <>
              <Buckets
                label="Attempts over time"
                parts={parts}
                of={data.map((point) => ({
                  at: point.at,
                  counts: [point.delivered, point.retried, point.given_up],
                  note: toCauses([point]),
                }))}
              />
              <p className="soft">{toCauses(data)}</p>
            </>
          )
        }
      </Loaded>
    </Section>
  );
}

const phases: Record<string, string> = {
  address: 'the address may not be called',
  dns: 'the name was not found',
  connect: 'no connection',
  tls: 'TLS failed',
  send: 'the event was not taken',
  answer: 'no answer in time',
};

const toCause = (cause: string): string => phases[cause] ?? `answered ${cause}`;

/** Why attempts failed, the most frequent first. */
function toCauses(points: readonly WebhookHealthPoint[]): string {
  const counts = new Map<string, number>();
  for (const { causes } of points)
    for (const { cause, count } of causes) counts.set(cause, (counts.get(cause) ?? 0) + count);
  if (counts.size === 0) return '';
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return `Why attempts failed: ${sorted.map(([cause, count]) => `${toCause(cause)} (${count})`).join(', ')}.`;
}
