import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import { all, useChange } from '../../api/client.ts';
import type { Approval, IssuedApiKeys } from '../../api/generated.ts';
import { Chosen, useForm } from '../../parts/form.tsx';
import { PracticeName } from '../../parts/name.tsx';
import { PracticeSearch } from '../../parts/practice-search.tsx';
import { Secret } from '../../parts/secret.tsx';
import { IssueForm, Issuing } from './issuing.tsx';
import { keyFields } from './key-fields.tsx';

/** Keys for many practices at once, all alike: all of them, or none. */
export function IssueKeys() {
  const navigate = useNavigate();
  return (
    <Issuing<IssuedApiKeys>
      title="Issue keys for many practices"
      issuedTitle="The keys"
      form={(partnerId, done) => <ManyKeys partnerId={partnerId} done={done} />}
    >
      {({ data }, { id, name }) => (
        <Secret
          name={`${data.length} keys of ${name}`}
          value={[
            'practice_group_id,key_id,key',
            ...data.map((one) => [one.practice_group_id, one.id, one.key].join(',')),
          ].join('\n')}
          fileName="porter-keys.csv"
          done={() => void navigate({ to: `/partners/${id}` })}
        />
      )}
    </Issuing>
  );
}

function ManyKeys({
  partnerId,
  done,
}: {
  partnerId: string;
  done: (answer: IssuedApiKeys | Approval) => void;
}) {
  const issue = useChange('issueKeys', ['listKeys', 'listAgreements']);
  const form = useForm({ ...keyFields(null), practice_group_ids: [] as string[] });
  const { value: ids, onChange, error } = form.field('practice_group_ids');
  const add = (more: readonly string[]) => onChange([...new Set([...ids, ...more])]);
  return (
    <IssueForm
      form={form}
      submit={ids.length > 1 ? `Issue ${ids.length} keys` : 'Issue the keys'}
      run={async ({ practice_group_ids }, key) =>
        done((await issue.mutateAsync({ body: { ...key, partner_id: partnerId, practice_group_ids } })).data)
      }
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
    </IssueForm>
  );
}

/** All practices of a network at once. */
function AddNetwork({ add }: { add: (ids: readonly string[]) => void }) {
  const { data } = useQuery(all('listNetworks', {}));
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
