import { useState } from 'react';
import { useChange } from '../../api/client.ts';
import type { Approval, CollectedAnswer } from '../../api/generated.ts';
import { useMay, useSession } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Differences } from '../../parts/differences.tsx';
import { Pick, Sentence, useFilters } from '../../parts/filters.tsx';
import { FormDialog, Typed } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Secret } from '../../parts/secret.tsx';
import { State, type StateKind } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

const states: Record<Approval['status'], [StateKind, string]> = {
  pending: ['waiting', 'waits'],
  approved: ['fine', 'approved'],
  declined: ['stopped', 'declined'],
  expired: ['stopped', 'expired'],
};

const CHANGES = [
  'listApprovals',
  'listKeys',
  'getKey',
  'listNetworks',
  'getNetwork',
  'listOperators',
  'listAudit',
] as const;

/** What waits for a second person, and what has. */
export function Approvals() {
  const { values, set } = useFilters(['status']);
  const status = values.status as Approval['status'] | undefined;
  const { approvals: asked } = useSession();
  const [collected, setCollected] = useState<CollectedAnswer>();
  return (
    <Section title="Approvals">
      <p className="soft">
        {asked.length === 0
          ? 'This deployment asks for no second person (PORTER_APPROVALS).'
          : `A second person is asked before ${asked.map((kind) => words[kind]).join(' and ')}.`}
      </p>
      {collected && <Collected of={collected} done={() => setCollected(undefined)} />}
      <Sentence isFiltered={status !== undefined} clear={() => set('status', undefined)}>
        requests that
        <Pick
          label="Status"
          value={status}
          choices={[
            { value: 'pending', title: 'wait' },
            { value: 'approved', title: 'were approved' },
            { value: 'declined', title: 'were declined' },
            { value: 'expired', title: 'have expired' },
          ]}
          any="wait or not"
          onChange={(value) => set('status', value)}
        />
      </Sentence>
      <Paged of="listApprovals" input={{ query: { status } }} rows={4}>
        {(approvals) => (
          <Table
            label="Approvals"
            items={approvals}
            keyOf={({ id }) => id}
            empty="Nothing waits."
            columns={[
              { title: 'What', width: '2fr', cell: ({ summary }) => summary },
              {
                title: 'Asked by',
                width: '1.5fr',
                cell: ({ requested_by }) => <bdi>{requested_by.name}</bdi>,
              },
              { title: 'When', width: '8rem', cell: ({ requested_at }) => <When at={requested_at} /> },
              { title: 'State', width: '2fr', cell: (approval) => <Decided of={approval} /> },
              {
                title: 'Actions',
                width: '14rem',
                cell: (approval) => <ApprovalActions of={approval} collected={setCollected} />,
              },
            ]}
          />
        )}
      </Paged>
    </Section>
  );
}

const words: Record<Approval['kind'], string> = {
  keys: 'a key is issued, rotated or given more',
  networks: 'a network is changed',
  operators: 'an operator is added or works for longer',
};

function Decided({ of: { status, decided_by, reason, expires_at } }: { of: Approval }) {
  const [kind, word] = states[status];
  return (
    <>
      <State kind={kind}>{decided_by ? `${word} by ${decided_by.name}` : word}</State>{' '}
      {status === 'pending' && (
        <span className="soft">
          until <When at={expires_at} />
        </span>
      )}
      {reason && <span className="soft">“{reason}”</span>}
    </>
  );
}

function ApprovalActions({
  of: approval,
  collected,
}: {
  of: Approval;
  collected: (answer: CollectedAnswer) => void;
}) {
  const { id, status, summary, requested_by, is_collectable } = approval;
  const params = { id };
  const isMine = useSession().operator.id === requested_by.id;
  const mayDecide = useMay('admin', 'support');
  const approve = useChange('approveApproval', CHANGES);
  const decline = useChange('declineApproval', CHANGES);
  const collect = useChange('collectApproval', CHANGES);
  if (!mayDecide) return null;
  if (isMine && is_collectable)
    return (
      <span className="actions small">
        <Confirm
          action="Collect"
          title={`Collect: ${summary}`}
          isDestructive={false}
          run={async () => collected((await collect.mutateAsync({ params })).data)}
        >
          <p>What it made is shown once, to you alone.</p>
        </Confirm>
      </span>
    );
  if (status !== 'pending') return null;
  return (
    <span className="actions small">
      {!isMine && (
        <Confirm
          action="Approve"
          title={`${summary}?`}
          isDestructive={false}
          run={() => approve.mutateAsync({ params })}
        >
          <div className="stack">
            <p>
              <bdi>{requested_by.name}</bdi> asked for it. It is carried out as it was asked for, in the name
              of both:
            </p>
            <Differences before={null} after={{ ...approval.params, ...(approval.body as object | null) }} />
          </div>
        </Confirm>
      )}
      <FormDialog
        action={isMine ? 'Withdraw' : 'Decline'}
        title={isMine ? `Withdraw: ${summary}` : `Decline: ${summary}`}
        initial={{ reason: '' }}
        run={(body) => decline.mutateAsync({ params, body })}
      >
        {({ field }) => (
          <Typed
            label="Why"
            description="For whoever asked, as a sentence."
            field={field('reason')}
            autoFocus
          />
        )}
      </FormDialog>
    </span>
  );
}

interface Secrets {
  key?: string;
  token?: string;
  data?: { practice_group_id: string; id: string; key: string }[];
}

/** A key is shown once; what has no secret is only said to be done. */
function Collected({ of: { answer }, done }: { of: CollectedAnswer; done: () => void }) {
  const { key, token, data } = (answer ?? {}) as Secrets;
  const value = data
    ? data.map((one) => `${one.practice_group_id},${one.id},${one.key}`).join('\n')
    : (key ?? token);
  if (value === undefined) return <p role="status">It was done.</p>;
  return (
    <Secret
      name={data ? `${data.length} keys` : token ? 'The token' : 'The key'}
      value={value}
      fileName={data ? 'porter-keys.csv' : token ? 'porter-operator-token.txt' : 'porter-key.txt'}
      done={done}
    />
  );
}
