import { useQuery } from '@tanstack/react-query';
import type { InputOf } from '../../api/client.ts';
import { one } from '../../api/client.ts';
import { sinceHours } from '../../parts/ages.ts';
import { Sentence, useFilters } from '../../parts/filters.tsx';
import { Id } from '../../parts/id.tsx';
import { List } from '../../parts/list.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { PickAge } from '../../parts/pick-age.tsx';
import { When } from '../../parts/when.tsx';
import { Called, PickRefusal } from '../refusal.tsx';
import { toRefusal } from '../refusal-words.ts';

type ErrorCode = NonNullable<NonNullable<InputOf<'listPortalRefusals'>['query']>['error']>;

/** Why was our call refused, and what do we do about it? */
export function Refused() {
  const { values, set, clear } = useFilters(['error', 'key_id', 'hours', 'open']);
  const { hours, open, error, key_id } = values;
  return (
    <Page title="Refused calls">
      {open && <One id={open} />}
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        calls that were refused because
        <PickRefusal value={error} onChange={(value) => set('error', value)} />
        {key_id && (
          <span>
            with the key <code>{key_id}</code>
          </span>
        )}
        <PickAge value={hours} onChange={(value) => set('hours', value)} />
      </Sentence>
      <List
        label="Refused calls"
        of="listPortalRefusals"
        input={{ query: { key_id, error: error as ErrorCode | undefined, since: sinceHours(hours) } }}
        keyOf={({ request_id, at }) => `${request_id} ${at}`}
        hrefOf={({ request_id }) => `/portal/refused?open=${encodeURIComponent(request_id)}`}
        empty="No call of yours was refused like that. A call with a key that Porter does not know belongs to nobody, and is not listed."
        columns={[
          { title: 'Why', width: '1.4fr', cell: (call) => `${call.status}: ${toRefusal(call)}` },
          {
            title: 'Call',
            width: '1.4fr',
            cell: (call) => <Called of={call} />,
          },
          { title: 'What to do', width: '2.4fr', wideOnly: true, cell: ({ explanation }) => explanation },
          { title: 'When', width: '8rem', cell: ({ at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}

function One({ id }: { id: string }) {
  const query = useQuery(one('listPortalRefusals', { query: { request_id: id, page_size: 1 } }));
  return (
    <Loaded query={query}>
      {({ data: [call] }) =>
        call ? (
          <>
            <Banner tone="failing">
              <strong>
                {call.status}: {toRefusal(call)}.
              </strong>{' '}
              {call.explanation}
            </Banner>
            <Section title="The call">
              <Facts
                of={{
                  Call: <Called of={call} />,
                  When: <When at={call.at} />,
                  From: call.address ?? undefined,
                  'For the practice': call.practice_group_id ? (
                    <code>{call.practice_group_id}</code>
                  ) : undefined,
                  Key: <Id>{call.key_id}</Id>,
                  Request: <Id>{call.request_id}</Id>,
                }}
              />
              <pre>
                <code>
                  <bdi>{JSON.stringify(call.answer, null, 2)}</bdi>
                </code>
              </pre>
            </Section>
          </>
        ) : (
          <Empty>That call is not kept any more, or was none of yours.</Empty>
        )
      }
    </Loaded>
  );
}
