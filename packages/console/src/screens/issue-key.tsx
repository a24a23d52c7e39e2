import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { one, useChange } from '../api/client.ts';
import type { Approval, IssuedApiKey } from '../api/generated.ts';
import { Failure } from '../parts/failure.tsx';
import { useForm } from '../parts/form.tsx';
import { nameOfKey, PracticeName } from '../parts/name.tsx';
import { Page } from '../parts/page.tsx';
import { PracticeSearch } from '../parts/practice-search.tsx';
import { Secret } from '../parts/secret.tsx';
import { isWaiting, Waits } from '../parts/waits.tsx';
import { KeyFields, keyBody, keyFields } from './key-fields.tsx';

/** A key for one practice, shown once. */
export function IssueKey() {
  const { id = '' } = useParams({ strict: false });
  const partner = useQuery(one('getPartner', { params: { id } }));
  const [issued, setIssued] = useState<IssuedApiKey | Approval>();
  const navigate = useNavigate();
  const name = partner.data?.name ?? 'Partner';
  return (
    <Page
      title={issued ? 'The key' : 'Issue a key'}
      trail={[
        { title: 'Partners', to: '/partners' },
        { title: name, to: `/partners/${id}` },
      ]}
    >
      {issued && isWaiting(issued) ? (
        <Waits approval={issued} />
      ) : issued ? (
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
  issued: (answer: IssuedApiKey | Approval) => void;
}) {
  const issue = useChange('issueKey', ['listKeys', 'listAgreements']);
  const form = useForm({ ...keyFields(null), practice_group_id: '' });
  const { onChange, error } = form.field('practice_group_id');
  return (
    <form
      className="stack narrow"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit(async ({ practice_group_id, ...values }) => {
          const body = { ...keyBody(values), partner_id: partnerId, practice_group_id };
          issued((await issue.mutateAsync({ body })).data);
        });
      }}
    >
      <PracticeSearch
        label="Practice"
        description="The key acts for it, and for those that share a network with it."
        error={error}
        onPick={(practice) => onChange(practice?.id ?? '')}
      />
      <KeyFields form={form} />
      {form.failure !== undefined && <Failure error={form.failure} />}
      <div className="actions">
        <Button type="submit" className="button primary" isPending={form.isRunning}>
          Issue the key
        </Button>
      </div>
    </form>
  );
}
