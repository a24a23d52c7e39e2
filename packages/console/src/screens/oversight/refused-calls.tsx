import type { InputOf } from '../../api/client.ts';
import { pageOf } from '../../frame/addresses.ts';
import { sinceHours } from '../../parts/ages.ts';
import { Sentence, useFilters } from '../../parts/filters.tsx';
import { List } from '../../parts/list.tsx';
import { KeyName, PartnerName, PracticeName } from '../../parts/name.tsx';
import { Page } from '../../parts/page.tsx';
import { PickAge } from '../../parts/pick-age.tsx';
import { PickNamed } from '../../parts/pick-named.tsx';
import { When } from '../../parts/when.tsx';
import { Called, PickRefusal } from './refusal.tsx';
import { toRefusal } from './refusal-words.ts';

type ErrorCode = NonNullable<NonNullable<InputOf<'listRefusedRequests'>['query']>['error']>;

/** Whose calls are refused, and why? Those with a key that is known but expired or revoked are here, too. */
export function RefusedCalls() {
  const { values, set, clear } = useFilters(['error', 'partner_id', 'practice_group_id', 'key_id', 'hours']);
  const { hours, ...query } = values;
  return (
    <Page title="Refused calls">
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        calls that were refused because
        <PickRefusal value={values.error} onChange={(value) => set('error', value)} />
        of
        <PickNamed kind="partner" value={values.partner_id} onChange={(id) => set('partner_id', id)} />
        for
        <PickNamed
          kind="practice_group"
          value={values.practice_group_id}
          onChange={(id) => set('practice_group_id', id)}
        />
        {values.key_id && (
          <span>
            with <KeyName id={values.key_id} />
          </span>
        )}
        <PickAge value={hours} onChange={(value) => set('hours', value)} />
      </Sentence>
      <List
        label="Refused calls"
        of="listRefusedRequests"
        input={{
          query: { ...query, error: values.error as ErrorCode | undefined, since: sinceHours(hours) },
        }}
        keyOf={({ request_id, at }) => `${request_id} ${at}`}
        hrefOf={({ request_id }) => pageOf('refused_request', request_id)}
        empty="No call was refused like that. Calls without a key that is known are in the log of the service alone."
        columns={[
          { title: 'Why', width: '1.8fr', cell: (call) => `${call.status}: ${toRefusal(call)}` },
          {
            title: 'Partner',
            width: '1fr',
            cell: ({ partner_id }) => <PartnerName id={partner_id} isPlain />,
          },
          {
            title: 'Call',
            width: '1.4fr',
            broad: true,
            cell: (call) => <Called of={call} />,
          },
          {
            title: 'Practice',
            width: '1fr',
            cell: ({ practice_group_id: id }) => (id ? <PracticeName id={id} isPlain /> : null),
          },
          { title: 'When', width: '8rem', cell: ({ at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}
