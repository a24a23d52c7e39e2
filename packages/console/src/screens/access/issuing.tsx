import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { one } from '../../api/client.ts';
import type { Approval } from '../../api/generated.ts';
import { Failure } from '../../parts/failure.tsx';
import type { FormState } from '../../parts/form.tsx';
import { Only } from '../../parts/only.tsx';
import { Page } from '../../parts/page.tsx';
import { isWaiting, Waits } from '../../parts/waits.tsx';
import { KeyFields, type KeyFieldsOf, keyBody } from './key-fields.tsx';

/** The page on which keys are issued to a partner: the form first, then what was issued, or that it waits for a second person. */
export function Issuing<Issued extends object>({
  title,
  issuedTitle,
  form,
  children,
}: {
  title: string;
  issuedTitle: string;
  form: (partnerId: string, done: (answer: Issued | Approval) => void) => React.ReactNode;
  /** What was issued, shown this once. */
  children: (issued: Issued, partner: { id: string; name: string }) => React.ReactNode;
}) {
  const { id = '' } = useParams({ strict: false });
  const partner = useQuery(one('getPartner', { params: { id } }));
  const [issued, setIssued] = useState<Issued | Approval>();
  const name = partner.data?.name ?? 'Partner';
  return (
    <Page
      title={issued ? issuedTitle : title}
      trail={[
        { title: 'Partners', to: '/partners' },
        { title: name, to: `/partners/${id}` },
      ]}
    >
      {issued === undefined ? (
        <Only to={['admin', 'support']}>{form(id, setIssued)}</Only>
      ) : isWaiting(issued) ? (
        <Waits approval={issued} />
      ) : (
        children(issued, { id, name })
      )}
    </Page>
  );
}

/** Which practices, and then what every key has. */
export function IssueForm<V extends KeyFieldsOf>({
  form,
  submit,
  run,
  children,
}: {
  form: FormState<V>;
  /** On the button. */
  submit: string;
  run: (values: V, key: ReturnType<typeof keyBody>) => Promise<void>;
  children: React.ReactNode;
}) {
  return (
    <form
      className="stack narrow"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void form.submit((values) => run(values, keyBody(values)));
      }}
    >
      {children}
      <KeyFields form={form} />
      {form.failure !== undefined && <Failure error={form.failure} />}
      <div className="actions">
        <Button type="submit" className="button primary" isPending={form.isRunning}>
          {submit}
        </Button>
      </div>
    </form>
  );
}
