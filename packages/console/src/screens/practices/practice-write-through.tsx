import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { isStatus, one, useChange } from '../../api/client.ts';
import type { Change, OperatorPracticeGroup } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Differences } from '../../parts/differences.tsx';
import { FormDialog, Typed } from '../../parts/form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PartnerName } from '../../parts/name.tsx';
import { Empty, Facts, Section } from '../../parts/page.tsx';
import { Secret } from '../../parts/secret.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

const SHOWN = 20;

/** What partners changed and the practice software has not yet said anything about. */
export function ChangesWaiting({ practice: { id } }: { practice: OperatorPracticeGroup }) {
  const query = useQuery(
    one('listChanges', { query: { practice_group_id: id, state: 'pending', page_size: SHOWN } }),
  );
  return (
    <Section title="Changes waiting for the practice software">
      <Loaded query={query} rows={2}>
        {({ data, has_more }) => (
          <Table
            label="Changes waiting"
            items={data}
            keyOf={(change) => change.id}
            hrefOf={(change) => `/changes/${change.id}`}
            empty="None: everything that partners changed was applied or rejected."
            more={
              has_more
                ? { to: `/changes?practice_group_id=${id}&state=pending`, title: 'All that are waiting' }
                : undefined
            }
            columns={[
              { title: 'When', width: '8rem', cell: ({ at }) => <When at={at} /> },
              { title: 'Partner', width: '1fr', cell: ({ partner_id }) => <PartnerName id={partner_id} /> },
              {
                title: 'Change',
                width: '3fr',
                cell: ({ before, after }: Change) => <Differences before={before} after={after} />,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

/** Where the practice software is asked before a change is made. */
export function WriteThrough({ practice: { id } }: { practice: OperatorPracticeGroup }) {
  const params = { id };
  const query = useQuery(one('getWriteThrough', { params }));
  const put = useChange('putWriteThrough', ['getWriteThrough']);
  const remove = useChange('deleteWriteThrough', ['getWriteThrough']);
  const [secret, setSecret] = useState<string>();
  const may = useMay('admin');
  const isNone = isStatus(query.error, 404);
  return (
    <Section
      title="Write-through"
      actions={
        may &&
        !query.isPending && (
          <>
            <FormDialog
              action={isNone ? 'Set an address' : 'Change the address'}
              title="Ask the practice software first"
              submit="Save"
              initial={{ url: isNone ? '' : (query.data?.url ?? '') }}
              run={async ({ url }) =>
                setSecret((await put.mutateAsync({ params, body: { url } })).data.secret)
              }
            >
              {({ field }) => (
                <>
                  <p>
                    Before a partner’s change is made, the address is asked. Its answer decides. A new secret
                    is made and shown once.
                  </p>
                  <Typed label="Address" type="url" placeholder="https://" field={field('url')} autoFocus />
                </>
              )}
            </FormDialog>
            {!isNone && query.data && (
              <Confirm
                action="Turn off"
                title="Turn write-through off?"
                run={() => remove.mutateAsync({ params })}
              >
                <p>
                  Changes of partners are made at once from now on, and the practice software is told
                  afterwards.
                </p>
              </Confirm>
            )}
          </>
        )
      }
    >
      {secret && (
        <Secret
          name="The secret that verifies what the address is asked"
          value={secret}
          fileName="porter-write-through-secret.txt"
          done={() => setSecret(undefined)}
        />
      )}
      {isNone ? (
        <Empty>
          Off: changes of partners are made at once, and the practice software is told afterwards.
        </Empty>
      ) : (
        <Loaded query={query} rows={2}>
          {({ url, status, health, updated_at }) => (
            <Facts
              of={{
                Address: url,
                State:
                  status === 'disabled' ? (
                    <State kind="stopped">disabled</State>
                  ) : health.failing_since ? (
                    <State kind="failing">failing</State>
                  ) : (
                    <State kind="fine">{status === 'active' ? 'on' : status}</State>
                  ),
                'Last success': <When at={health.last_success_at} />,
                'Set on': <When at={updated_at} />,
              }}
            />
          )}
        </Loaded>
      )}
    </Section>
  );
}
