import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { all, useChange } from '../../api/client.ts';
import type { AccessLogEntry, Erasure, EventName, OperatorPracticeGroup } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Sentence, TextFilter, useFilters } from '../../parts/filters.tsx';
import { Chosen, Typed } from '../../parts/form.tsx';
import { List } from '../../parts/list.tsx';
import { KeyName, OperatorName, PartnerName } from '../../parts/name.tsx';
import { Empty, Section } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { eventTitles } from '../events/event-words.ts';
import { OperationName } from '../operation-name.tsx';

/** Who was told about the practice, or about one object of it; and what was erased. */
export function Told({ practice }: { practice: OperatorPracticeGroup }) {
  const { values, set } = useFilters(['object_id']);
  const { id } = practice;
  return (
    <>
      <Erasures practice={practice} />
      <Section
        title="Who was told"
        actions={
          <a className="button" href={`/operator/v1/access-log/export?practice_group_id=${id}`} download>
            Export
          </a>
        }
      >
        <Sentence isFiltered={values.object_id !== undefined} clear={() => set('object_id', undefined)}>
          who was told about
          <TextFilter
            label="Object"
            value={values.object_id}
            any="anything of this practice"
            onChange={(value) => set('object_id', value)}
          />
        </Sentence>
        <List
          label="Who was told"
          of="listAccessLog"
          input={{ query: { practice_group_id: id, object_id: values.object_id } }}
          keyOf={(entry) => entry.id}
          empty="Nobody was told."
          columns={[
            { title: 'Who', width: '1.5fr', cell: (entry) => <Who of={entry} /> },
            { title: 'What', width: '2fr', whole: true, cell: (entry) => <What of={entry} /> },
            { title: 'How', width: '2fr', wideOnly: true, cell: (entry) => <How of={entry} /> },
            { title: 'Times', width: '4rem', titled: true, cell: ({ count }) => count },
            { title: 'Last', width: '8rem', titled: true, cell: ({ last_at }) => <When at={last_at} /> },
          ]}
        />
      </Section>
    </>
  );
}

function Who({ of: { partner_id, operator_id, person } }: { of: AccessLogEntry }) {
  if (partner_id)
    return (
      <>
        {person && (
          <>
            <bdi>{person}</bdi> of{' '}
          </>
        )}
        <PartnerName id={partner_id} />
      </>
    );
  return operator_id ? <OperatorName id={operator_id} /> : <>not known</>;
}

function What({ of: entry }: { of: AccessLogEntry }) {
  const { kind, event, object, object_id, operation, erased_by } = entry;
  const isPractice = object_id === null || object_id === entry.practice_group_id;
  return (
    <>
      {isPractice ? 'the practice' : `${object ?? 'object'} ${object_id}`}:{' '}
      {kind === 'received' ? (
        `was sent ${eventTitles[event as EventName] ?? event ?? 'an event'}`
      ) : (
        <>
          called <OperationName id={operation} />
        </>
      )}
      {erased_by && ' (erased since)'}
    </>
  );
}

function How({ of: { key_id, through, webhook_id } }: { of: AccessLogEntry }) {
  const keyId = key_id ?? through[0]?.key_id;
  if (keyId) return <KeyName id={keyId} />;
  return <>{webhook_id ?? '–'}</>;
}

function Erasures({ practice }: { practice: OperatorPracticeGroup }) {
  const may = useMay('admin');
  const [done, setDone] = useState<Erasure>();
  return (
    <Section title="Erasures" actions={may && <Erase practice={practice} done={setDone} />}>
      {done && <Erased of={done} />}
      <Paged of="listErasures" input={{ query: { practice_group_id: practice.id } }} rows={2}>
        {(erasures) => (
          <Table
            label="Erasures"
            items={erasures}
            keyOf={({ id }) => id}
            empty="Nothing of this practice was erased."
            columns={[
              { title: 'When', width: '8rem', cell: ({ created_at }) => <When at={created_at} /> },
              { title: 'Kind', width: '1fr', cell: ({ object }) => object },
              {
                title: 'Taken out of',
                width: '2fr',
                cell: ({ erased, finished }) =>
                  `${erased.events} events, ${erased.deliveries} deliveries${finished ? '' : '; broken off or under way: erase the object again'}`,
              },
              {
                title: 'To be told',
                width: '2fr',
                cell: ({ recipients }) =>
                  recipients.length === 0
                    ? 'nobody'
                    : recipients.map(({ partner_id }) => <PartnerName key={partner_id} id={partner_id} />),
              },
            ]}
          />
        )}
      </Paged>
    </Section>
  );
}

function Erased({ of: { erased, recipients } }: { of: Erasure }) {
  const total = Object.values(erased).reduce((sum, count) => sum + count, 0);
  return (
    <div className="banner fine" role="status">
      <p>
        <strong>{total === 0 ? 'There was nothing to erase.' : `Erased in ${total} places.`}</strong>{' '}
        {recipients.length > 0 && (
          <>
            Tell these partners to erase it, too:{' '}
            {recipients.map(({ partner_id, deliveries, under_way, reads }) => (
              <span key={partner_id}>
                <PartnerName id={partner_id} /> ({deliveries} deliveries
                {under_way > 0 && `, ${under_way} perhaps`}, {reads} reads){' '}
              </span>
            ))}
          </>
        )}
      </p>
    </div>
  );
}

const objects = ['Appointment', 'FormSubmission', 'Prescription', 'Patient', 'WriteToRecordEntry'];

function Erase({
  practice: { id },
  done,
}: {
  practice: OperatorPracticeGroup;
  done: (erasure: Erasure) => void;
}) {
  const erase = useChange('createErasure', ['listErasures', 'listAccessLog', 'listAudit']);
  const [object, setObject] = useState('Appointment');
  const [objectId, setObjectId] = useState('');
  return (
    <Confirm
      action="Erase an object"
      title="Erase an object"
      run={async () =>
        done(
          (await erase.mutateAsync({ body: { practice_group_id: id, object, object_id: objectId.trim() } }))
            .data,
        )
      }
    >
      <div className="stack">
        <p>
          Its identifiers are taken out of everything that is kept: events, deliveries, forms, jobs, the audit
          and the access log. What is queued about it is not sent. It cannot be undone; the audit stays
          verifiable.
        </p>
        <Chosen
          label="Kind"
          field={{ value: object, onChange: setObject, error: undefined }}
          choices={objects.map((value) => ({ value, title: value }))}
        />
        <Typed
          label="ID of the object"
          field={{ value: objectId, onChange: setObjectId, error: undefined }}
        />
        {objectId.trim() !== '' && <ToldOf practiceId={id} objectId={objectId.trim()} />}
      </div>
    </Confirm>
  );
}

/** How many were told of it, before it is gone. */
function ToldOf({ practiceId, objectId }: { practiceId: string; objectId: string }) {
  const query = { practice_group_id: practiceId, object_id: objectId };
  const { data } = useQuery(all('listAccessLog', { query }));
  if (!data) return null;
  const partners = new Set(data.data.flatMap(({ partner_id }) => partner_id ?? []));
  return (
    <Empty>
      {data.data.length === 0
        ? 'Nobody was told about an object with this ID.'
        : `${partners.size} ${partners.size === 1 ? 'partner was' : 'partners were'} told about it.`}
    </Empty>
  );
}
