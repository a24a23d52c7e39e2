import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { type Operation, one, useChange } from '../../api/client.ts';
import type { Change as AChange } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormDialog, Typed } from '../../parts/form.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { KeyName, PartnerName, PracticeName } from '../../parts/name.tsx';
import { Banner, Facts, Page, Section } from '../../parts/page.tsx';
import { Lasting, toDuration, useNow, When } from '../../parts/when.tsx';
import { differenceOf, fieldsOf, toField, toValue } from './change-words.tsx';
import { SubmissionTypeName, submissionTypeOf } from './submission-type-name.tsx';

/** Was it applied? */
export function Change() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getChange', { params: { id } }));
  return (
    <Loaded query={query}>
      {(change) => (
        <Titled of={change}>
          <Standing of={change} />
          <Section title="Before and after">
            <Difference of={change} />
          </Section>
          <Section title="About it">
            <Facts
              of={{
                'Submission type': <SubmissionTypeName of={change} />,
                Practice: <PracticeName id={change.practice_group_id} />,
                Partner: <PartnerName id={change.partner_id} />,
                Key: <KeyName id={change.key_id} />,
                Made: <When at={change.at} />,
                Answered: change.ended_at ? <When at={change.ended_at} /> : 'not yet',
                'Request ID': change.request_id === null ? undefined : <Id>{change.request_id}</Id>,
                ID: <Id>{change.id}</Id>,
              }}
            />
          </Section>
        </Titled>
      )}
    </Loaded>
  );
}

function Titled({ of: change, children }: { of: AChange; children: React.ReactNode }) {
  const { data } = useQuery(submissionTypeOf(change));
  return (
    <Page
      title={`Change of ${data?.title ?? change.object_id}`}
      trail={[{ title: 'Changes', to: '/changes' }]}
    >
      {children}
    </Page>
  );
}

const tones = { pending: 'waiting', applied: 'fine', rejected: 'stopped' } as const;

function Standing({ of: change }: { of: AChange }) {
  const now = useNow();
  const mayAnswer = useMay('admin', 'support') && change.state === 'pending';
  const age = toDuration(Math.max(0, Math.max(now, Date.now()) - Date.parse(change.at)));
  return (
    <Banner tone={tones[change.state]} actions={mayAnswer && <Answers of={change} />}>
      {change.state === 'pending' && (
        <>
          <strong>The practice software has not answered for {age}.</strong> The submission type is already as
          the partner made it; whether the practice's own software has it too is not known.
        </>
      )}
      {change.state === 'applied' && (
        <strong>
          Applied: the practice software has had it for <Lasting since={change.ended_at} />.
        </strong>
      )}
      {change.state === 'rejected' && (
        <>
          <strong>
            Rejected by the practice software <When at={change.ended_at} />.
          </strong>{' '}
          <bdi>{change.reason}</bdi> The submission type stays as the partner made it until somebody changes
          it.
        </>
      )}
    </Banner>
  );
}

const CHANGED: readonly Operation[] = ['getChange', 'listLatestChanges', 'getAttention'];

function Answers({ of: { id } }: { of: AChange }) {
  const applied = useChange('reportChangeApplied', CHANGED);
  const rejected = useChange('reportChangeRejected', CHANGED);
  return (
    <>
      <Confirm
        action="Mark as applied"
        isDestructive={false}
        title="Is it in the practice software?"
        run={() => applied.mutateAsync({ params: { id } })}
      >
        <p>
          You say for the practice software that it has this change. The partner sees it, it cannot be taken
          back, and the audit keeps that you said it.
        </p>
      </Confirm>
      <FormDialog
        action="Mark as rejected"
        title="Does the practice software refuse it?"
        initial={{ reason: '' }}
        run={({ reason }) => rejected.mutateAsync({ params: { id }, body: { reason: reason.trim() } })}
      >
        {({ field }) => (
          <>
            <p>
              You say for the practice software that it does not take this change. The partner sees the
              reason; it cannot be taken back.
            </p>
            <Typed label="Reason" description="For the partner, as a sentence." field={field('reason')} />
          </>
        )}
      </FormDialog>
    </>
  );
}

function Difference({ of: change }: { of: AChange }) {
  return (
    <table className="before-after">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {fieldsOf(change).map((name) => {
          const {
            start,
            one: gone,
            other: come,
            end,
          } = differenceOf(toValue(change.before[name]), toValue(change.after[name]));
          return (
            <tr key={name}>
              <th scope="row">{toField(name)}</th>
              <td data-title="Before">
                <bdi>
                  {start}
                  {gone && <del>{gone}</del>}
                  {end}
                </bdi>
              </td>
              <td data-title="After">
                <bdi>
                  {start}
                  {come && <ins>{come}</ins>}
                  {end}
                </bdi>
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}
