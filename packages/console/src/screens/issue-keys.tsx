import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { one, useChange } from '../api/client.ts';
import type { Approval, IssuedApiKeys } from '../api/generated.ts';
import { Failure } from '../parts/failure.tsx';
import { Chosen, useForm } from '../parts/form.tsx';
import { PracticeName } from '../parts/name.tsx';
import { Page } from '../parts/page.tsx';
import { PracticeSearch } from '../parts/practice-search.tsx';
import { Secret } from '../parts/secret.tsx';
import { isWaiting, Waits } from '../parts/waits.tsx';
import { KeyFields, keyBody, keyFields } from './key-fields.tsx';

/** Keys for many practices at once, all alike: all of them, or none. */
export function IssueKeys() {
  const { id = '' } = useParams({ strict: false });
  const partner = useQuery(one('getPartner', { params: { id } }));
  const [issued, setIssued] = useState<IssuedApiKeys | Approval>();
  const navigate = useNavigate();
  const name = partner.data?.name ?? 'Partner';
  return (
    <Page
      title={issued ? 'The keys' : 'Issue keys for many practices'}
      trail={[
        { title: 'Partners', to: '/partners' },
        { title: name, to: `/partners/${id}` },
      ]}
    >
      {issued && isWaiting(issued) ? (
        <Waits approval={issued} />
      ) : issued ? (
        <Secret
          name={`${issued.data.length} keys of ${name}`}
          value={[
            'practice_group_id,key_id,key',
            ...issued.data.map((one) => [one.practice_group_id, one.id, one.key].join(',')),
          ].join('\n')}
          fileName="porter-keys.csv"
          done={() => void navigate({ to: `/partners/${id}` })}
        />
      ) : (
        <IssueForm partnerId={id} issued={setIssued} />
      )}
    </Page>
  );
}

function IssueForm({
  partnerId,
  issued,
}: {
  partnerId: string;
  issued: (answer: IssuedApiKeys | Approval) => void;
}) {
  const issue = useChange('issueKeys', ['listKeys', 'listAgreements']);
  const form = useForm({ ...keyFields(null), practice_group_ids: [] as string[] });
  const { value: ids, onChange, error } = form.field('practice_group_ids');
  const add = (more: readonly string[]) => onChange([...new Set([...ids, ...more])]);
  return (
    <form
      className="stack narrow"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit(async ({ practice_group_ids, ...values }) => {
          const body = { ...keyBody(values), partner_id: partnerId, practice_group_ids };
          issued((await issue.mutateAsync({ body })).data);
        });
      }}
    >
      <PracticeSearch
        label="Add a practice"
        error={error}
        clears
        onPick={(practice) => practice && add([practice.id])}
      />
      <AddNetwork add={add} />
      <section aria-label="Practices that get a key">
        <p>
          {ids.length === 0
            ? 'No practice is picked yet.'
            : `${ids.length} ${ids.length === 1 ? 'practice gets a key' : 'practices get a key each'}:`}
        </p>
        <ul className="picked">
          {ids.map((id) => (
            <li key={id}>
              <PracticeName id={id} />
              <Button
                className="link"
                aria-label={`Leave out ${id}`}
                onPress={() => onChange(ids.filter((one) => one !== id))}
              >
                leave out
              </Button>
            </li>
          ))}
        </ul>
      </section>
      <KeyFields form={form} />
      {form.failure !== undefined && <Failure error={form.failure} />}
      <div className="actions">
        <Button type="submit" className="button primary" isPending={form.isRunning}>
          {ids.length > 1 ? `Issue ${ids.length} keys` : 'Issue the keys'}
        </Button>
      </div>
    </form>
  );
}

/** All practices of a network at once. */
function AddNetwork({ add }: { add: (ids: readonly string[]) => void }) {
  const { data } = useQuery(one('listNetworks', { query: { page_size: 100 } }));
  if (!data?.data.length) return null;
  return (
    <Chosen
      label="Add all practices of a network"
      field={{
        value: '',
        error: undefined,
        onChange: (picked) => add(data.data.find(({ id }) => id === picked)?.practice_group_ids ?? []),
      }}
      choices={[
        { value: '', title: 'Pick a network…' },
        ...data.data.map(({ id, name, practice_group_ids }) => ({
          value: id,
          title: `${name} (${practice_group_ids.length})`,
        })),
      ]}
    />
  );
}
