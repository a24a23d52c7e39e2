import type { PortalPractice } from '../../api/generated-portal.ts';
import { useEvery } from '../../parts/every.ts';
import { Failure } from '../../parts/failure.tsx';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { Skeleton } from '../../parts/loaded.tsx';
import { Empty, Page } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { eventTitles } from '../events/event-words.ts';

const PAGES_MAX = 5;
const reading = ({ ways }: PortalPractice) => ways.find(({ scopes }) => scopes.includes('events:read'));

/** What happened in our practices, whether or not a webhook has it? */
export function Events() {
  const { values, set } = useFilters(['practice', 'event']);
  const { items, isLoading, error, retry } = useEvery('listPortalPractices', {}, PAGES_MAX);
  const practices = items.flatMap((practice) => {
    const way = reading(practice);
    return way ? { ...practice, way } : [];
  });
  const chosen = practices.find(({ id }) => id === values.practice) ?? practices[0];
  const event = values.event as keyof typeof eventTitles | undefined;
  return (
    <Page title="Event feed">
      {error && <Failure error={error} retry={retry} />}
      {isLoading && !chosen && <Skeleton rows={8} />}
      {!isLoading && !chosen && (
        <Empty>No key of yours may read events: it takes the scope events:read. Ask support.</Empty>
      )}
      {chosen && (
        <>
          <Sentence isFiltered={event !== undefined} clear={() => void set('event', undefined)}>
            events of
            <Pick
              label="Practice"
              value={values.practice}
              choices={practices.slice(1).map(({ id, name }) => ({ value: id, title: name }))}
              any={practices[0]?.name ?? ''}
              onChange={(value) => set('practice', value)}
            />
            that say
            <Pick
              label="Event"
              value={event}
              choices={Object.entries(eventTitles).map(([value, title]) => ({ value, title }))}
              any="anything"
              onChange={(value) => set('event', value)}
            />
          </Sentence>
          <List
            label="Events"
            of="listPortalEvents"
            input={{ way: chosen.way, query: { event } }}
            keyOf={({ id }) => id}
            empty="Nothing happened there for as long as events are kept."
            columns={[
              { title: 'Event', width: '1.4fr', cell: ({ data }) => eventTitles[data.event] },
              { title: 'About', width: '1.4fr', broad: true, cell: ({ data }) => <code>{data.id}</code> },
              { title: 'When', width: '8rem', cell: ({ created_at: at }) => <When at={at} /> },
              { title: 'ID', width: '1.8fr', wideOnly: true, cell: ({ id }) => <code>{id}</code> },
            ]}
          />
        </>
      )}
    </Page>
  );
}
