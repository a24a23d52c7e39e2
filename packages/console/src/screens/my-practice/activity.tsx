import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components/Button';
import { pages } from '../../api/client.ts';
import type { PartnerActivity } from '../../api/generated.ts';
import { Differences } from '../../parts/differences.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { Skeleton } from '../../parts/loaded.tsx';
import { Empty, Section } from '../../parts/page.tsx';
import { toClock, toExact, zone } from '../../parts/when.tsx';
import { kindTitles, toDone } from './words.ts';

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full' });
/** Below the day. */
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

/** What a partner read, changed and was sent, newest first, day by day. */
export function Activity({ partnerId }: { partnerId: string }) {
  const { values, set, clear } = useFilters(['kind']);
  const kind = values.kind as PartnerActivity['kind'] | undefined;
  const query = useInfiniteQuery(
    pages('listPartnerActivity', { params: { id: partnerId }, query: kind ? { kind } : {} }),
  );
  const items = (query.data?.pages ?? []).flatMap(({ data }) => data);
  return (
    <Section title="What it did">
      <Sentence isFiltered={kind !== undefined} clear={() => void clear()}>
        What it{' '}
        <Pick
          label="What it did"
          any="read, changed and was sent"
          value={kind}
          choices={Object.entries(kindTitles).map(([value, title]) => ({ value, title }))}
          onChange={(value) => void set('kind', value)}
        />{' '}
        of your practice
      </Sentence>
      {query.isPending && <Skeleton rows={6} />}
      {query.error && <Failure error={query.error} retry={() => void query.refetch()} />}
      {query.data && items.length === 0 && !query.hasNextPage && (
        <Empty>Nothing, as far as the records go back.</Empty>
      )}
      {byDay(items).map(([title, lines]) => (
        <section key={title} className="day" aria-label={title}>
          <h3>{title}</h3>
          <ol className="activity">
            {lines.map((line) => (
              <Line key={line.id} of={line} />
            ))}
          </ol>
        </section>
      ))}
      {query.hasNextPage && (
        <Button
          className="button"
          isPending={query.isFetchingNextPage}
          onPress={() => void query.fetchNextPage()}
        >
          Show earlier
        </Button>
      )}
    </Section>
  );
}

function byDay(items: readonly PartnerActivity[]): [string, PartnerActivity[]][] {
  return [...Map.groupBy(items, ({ at }) => day.format(new Date(at)))];
}

const states = {
  pending: 'your practice software has not answered yet',
  applied: 'your practice software has it',
  rejected: 'your practice software did not take it',
} as const;

function Line({ of: line }: { of: PartnerActivity }) {
  const { kind, at, title, object, object_id, before, after, state } = line;
  const about = title ?? (object_id && object ? `${toObject(object)} ${object_id}` : null);
  return (
    <li data-kind={kind}>
      <time dateTime={at} title={`${toExact(at)} (${zone})`}>
        {clock.format(new Date(at))}
      </time>
      <span>
        {toDone(line)}
        {about && (
          <>
            {' '}
            <bdi className="about">{about}</bdi>
          </>
        )}
        {kind === 'changed' && <Differences before={before} after={after} />}
        {kind === 'received' && isLate(line) && <span className="soft"> (sent {toClock(line.last_at)})</span>}
        {state && <span className="soft">{states[state]}</span>}
      </span>
    </li>
  );
}

/** What waited for its receiver, or was sent again. */
const LATE_MS = 60_000;
const isLate = ({ at, last_at }: PartnerActivity) => Date.parse(last_at) - Date.parse(at) >= LATE_MS;

/** `FormSubmission`: form submission. */
const toObject = (object: string): string => object.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
