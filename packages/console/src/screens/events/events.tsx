import type { EventName } from '../../api/generated.ts';
import { sinceHours } from '../../parts/ages.ts';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { PracticeName } from '../../parts/name.tsx';
import { Page } from '../../parts/page.tsx';
import { PickAge } from '../../parts/pick-age.tsx';
import { When } from '../../parts/when.tsx';
import { eventTitles } from './event-words.ts';

export function Events() {
  const { values, set, clear } = useFilters(['event', 'practice_group_id', 'hours']);
  return (
    <Page title="Events">
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        events
        <Pick
          label="Event"
          value={values.event}
          choices={Object.entries(eventTitles).map(([value, title]) => ({ value, title }))}
          any="of any kind"
          onChange={(value) => set('event', value)}
        />
        {values.practice_group_id && (
          <span>
            of <PracticeName id={values.practice_group_id} />
          </span>
        )}
        accepted
        <PickAge value={values.hours} onChange={(value) => set('hours', value)} />
      </Sentence>
      <List
        label="Events"
        of="listPublishedEvents"
        input={{
          query: {
            event: values.event as EventName | undefined,
            practice_group_id: values.practice_group_id,
            since: sinceHours(values.hours),
          },
        }}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/events/${id}`}
        empty="No event is like that. The practice software publishes them with POST /operator/v1/events."
        columns={[
          {
            title: 'Event',
            width: '2fr',
            cell: ({ payload, test }) => `${eventTitles[payload.event]}${test ? ' (test)' : ''}`,
          },
          {
            title: 'Practice',
            width: '1.4fr',
            cell: ({ payload }) => <PracticeName id={payload.practice_group_id} />,
          },
          { title: 'Object', width: '1fr', broad: true, cell: ({ payload }) => <code>{payload.id}</code> },
          {
            title: 'Accepted',
            width: '8rem',
            cell: ({ accepted_at }) => <When at={accepted_at} />,
          },
          {
            title: 'ID',
            width: '0.8fr',
            wideOnly: true,
            cell: ({ id }) => <code className="soft">{id}</code>,
          },
        ]}
      />
    </Page>
  );
}
