import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { all, type InputOf, one } from '../../api/client.ts';
import { sinceHours } from '../../parts/ages.ts';
import { Sentence, useFilters } from '../../parts/filters.tsx';
import { Id } from '../../parts/id.tsx';
import { List } from '../../parts/list.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { nameOfKey } from '../../parts/name.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { PickAge } from '../../parts/pick-age.tsx';
import { When } from '../../parts/when.tsx';
import { Answered, Called, PickRefusal } from '../oversight/refusal.tsx';
import { toRefusal, toSentences, toWrongs } from '../oversight/refusal-words.ts';

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
            with <KeyName id={key_id} />
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
            broad: true,
            cell: (call) => <Called of={call} />,
          },
          {
            title: 'What was wrong',
            width: '2.4fr',
            wideOnly: true,
            cell: (call) => <bdi>{toWrongs(call)}</bdi>,
          },
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
              <bdi>{toSentences(call)}</bdi>
            </Banner>
            <Section title="The call">
              <Facts
                of={{
                  Call: <Called of={call} />,
                  When: <When at={call.at} />,
                  From: call.address ?? undefined,
                  'For the practice': call.practice_group_id ? (
                    <Practice id={call.practice_group_id} />
                  ) : undefined,
                  Key: <KeyName id={call.key_id} />,
                  Request: <Id>{call.request_id}</Id>,
                }}
              />
            </Section>
            <Section title="What it was answered">
              <Answered of={call.answer} />
            </Section>
          </>
        ) : (
          <Empty>That call is not kept any more, or was none of yours.</Empty>
        )
      }
    </Loaded>
  );
}

/** A key of one's own; by its ID until its name is there. */
function KeyName({ id }: { id: string }) {
  const { data } = useQuery(one('getPortalKey', { params: { id } }));
  return <Link to={`/portal/keys/${id}`}>{data ? <bdi>{nameOfKey(data)}</bdi> : <code>{id}</code>}</Link>;
}

/** Its ID is what calls send. Its name is known of practices that a key may act for now. */
function Practice({ id }: { id: string }) {
  const { data } = useQuery(all('listPortalPractices', {}));
  const name = data?.data.find((practice) => practice.id === id)?.name;
  return (
    <>
      {name && <bdi>{name}</bdi>} <code>{id}</code>
    </>
  );
}
