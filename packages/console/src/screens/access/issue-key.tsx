import { useNavigate } from '@tanstack/react-router';
import { useChange } from '../../api/client.ts';
import type { Approval, IssuedApiKey } from '../../api/generated.ts';
import { useForm } from '../../parts/form.tsx';
import { nameOfKey, PracticeName } from '../../parts/name.tsx';
import { PracticeSearch } from '../../parts/practice-search.tsx';
import { Secret } from '../../parts/secret.tsx';
import { IssueForm, Issuing } from './issuing.tsx';
import { keyFields } from './key-fields.tsx';

/** A key for one practice, shown once. */
export function IssueKey() {
  const navigate = useNavigate();
  return (
    <Issuing<IssuedApiKey>
      title="Issue a key"
      issuedTitle="The key"
      form={(partnerId, done) => <OneKey partnerId={partnerId} done={done} />}
    >
      {(issued, { name }) => (
        <div className="stack narrow">
          <p>
            It acts for <PracticeName id={issued.practice_group_id} /> and for the practices that share a
            network with it. Hand it to {name} by a way that nobody else reads.
          </p>
          <Secret
            name={nameOfKey(issued)}
            value={issued.key}
            fileName={`porter-key-${issued.last_four}.txt`}
            done={() => void navigate({ to: `/keys/${issued.id}` })}
          />
        </div>
      )}
    </Issuing>
  );
}

function OneKey({ partnerId, done }: { partnerId: string; done: (answer: IssuedApiKey | Approval) => void }) {
  const issue = useChange('issueKey', ['listKeys', 'listAgreements']);
  const form = useForm({ ...keyFields(null), practice_group_id: '' });
  const { onChange, error } = form.field('practice_group_id');
  return (
    <IssueForm
      form={form}
      submit="Issue the key"
      run={async ({ practice_group_id }, key) =>
        done((await issue.mutateAsync({ body: { ...key, partner_id: partnerId, practice_group_id } })).data)
      }
    >
      <PracticeSearch
        label="Practice"
        description="The key acts for it, and for those that share a network with it."
        error={error}
        onPick={(practice) => onChange(practice?.id ?? '')}
      />
    </IssueForm>
  );
}
