import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useBlocker, useNavigate, useParams } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { TextField } from 'react-aria-components/TextField';
import { ask, one, queryClient } from '../../api/client.ts';
import type { Network as NetworkNow } from '../../api/generated.ts';
import { useMay, useSession } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { useEvery, usePracticeNames } from '../../parts/every.ts';
import { Failure } from '../../parts/failure.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Only } from '../../parts/only.tsx';
import { Page, Section } from '../../parts/page.tsx';
import { isWaiting } from '../../parts/waits.tsx';
import { When } from '../../parts/when.tsx';
import { type Draft, emptyDraft, isSame, PartnerCap, ScopeCap } from './network-draft.tsx';
import { Members } from './network-members.tsx';
import { type NetworkArea, Picture, type Practice } from './network-picture.tsx';
import { DeletionLosses, Differences, toDifference } from './network-preview.tsx';
import { toGrant } from './network-words.tsx';

const trail = [{ title: 'Networks', to: '/networks' }];
/** Where a change waits that a second person is to approve. */
const APPROVALS = { to: '/settings', search: { tab: 'approvals' } } as const;
const PAGES_MAX = 2;
/** More could not be told apart. */
const SHOWN_MAX = 60;

/** One network: who is in it, what it lets through, and, before it is saved, who would gain and who would lose. */
export function Network() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getNetwork', { params: { id } }));
  const navigate = useNavigate();
  const mayChange = useMay('admin');
  const remove = async () => {
    const { data } = await ask('deleteNetwork', { params: { id } });
    await queryClient.invalidateQueries({ queryKey: ['listNetworks'] });
    await navigate(data && isWaiting(data) ? APPROVALS : { to: '/networks' });
  };
  return (
    <Page
      title={query.data?.name ?? 'Network'}
      trail={trail}
      actions={
        mayChange &&
        query.data && (
          <Confirm
            action="Delete"
            title={`Delete ${query.data.name}?`}
            typed={{ label: 'Type the name of the network', text: query.data.name.trim() }}
            run={remove}
          >
            <DeletionLosses id={id} />
          </Confirm>
        )
      }
    >
      <Loaded query={query}>{(network) => <Editor key={network.id} base={network} />}</Loaded>
    </Page>
  );
}

export function NewNetwork() {
  return (
    <Page title="New network" trail={trail}>
      <Only to={['admin']}>
        <Editor base={undefined} />
      </Only>
    </Page>
  );
}

function Editor({ base }: { base: NetworkNow | undefined }) {
  const [draft, setDraft] = useState<Draft>(base ?? emptyDraft);
  const mayChange = useMay('admin');
  const partners = useEvery('listPartners', {}, PAGES_MAX).items;
  const nowMembers = base?.practice_group_ids ?? [];
  const all = [...new Set([...nowMembers, ...draft.practice_group_ids])];
  const nameOf = usePracticeNames(all.slice(0, SHOWN_MAX));
  const isChanged = !isSame(draft, base ?? emptyDraft);
  const { name: _name, ...described } = draft;
  const preview = useQuery({
    ...one('previewNetwork', { body: { ...(base && { id: base.id }), ...toBody(described) } }),
    enabled: mayChange && isChanged,
    placeholderData: keepPreviousData,
  });
  const change = (fields: Partial<Draft>) => setDraft({ ...draft, ...fields });
  return (
    <div className="picture-and-list editor">
      <div>
        <Drawn base={base} draft={draft} all={all} nameOf={nameOf} isChanged={isChanged} change={change} />
        {mayChange && isChanged && (
          <Section title="If it is saved">
            {preview.error ? (
              <Failure error={preview.error} retry={() => void preview.refetch()} />
            ) : (
              preview.data && <Differences of={preview.data} />
            )}
            <Saving
              base={base}
              draft={draft}
              isReady={preview.isSuccess && !preview.isPlaceholderData}
              said={preview.data && toDifference(preview.data)}
              discard={() => setDraft(base ?? emptyDraft)}
            />
          </Section>
        )}
      </div>
      <div className="stack">
        {base && (
          <p className="soft">
            <Id>{base.id}</Id> changed <When at={base.updated_at} />. It lets through{' '}
            {toGrant(base, partners)}.
          </p>
        )}
        {mayChange && (
          <TextField value={draft.name} onChange={(name) => change({ name })} maxLength={255}>
            <Label>Name</Label>
            <Input />
          </TextField>
        )}
        <Members
          of={draft.practice_group_ids}
          before={nowMembers}
          nameOf={nameOf}
          change={mayChange ? (practice_group_ids) => change({ practice_group_ids }) : undefined}
        />
        {mayChange && (
          <>
            <ScopeCap of={draft.scopes} change={(scopes) => change({ scopes })} />
            <PartnerCap
              of={draft.partner_ids}
              partners={partners}
              change={(partner_ids) => change({ partner_ids })}
            />
          </>
        )}
      </div>
    </div>
  );
}

/** Fields of a draft that came from a network have more beside them. */
const toBody = ({ practice_group_ids, scopes, partner_ids }: Omit<Draft, 'name'>) => ({
  practice_group_ids,
  scopes,
  partner_ids,
});

interface DrawnProps {
  base: NetworkNow | undefined;
  draft: Draft;
  all: readonly string[];
  nameOf: (id: string) => string;
  isChanged: boolean;
  change: (fields: Partial<Draft>) => void;
}

/** The network as it would be, with the others that its practices are in. Who joins is in brass, who leaves in red. */
function Drawn({ base, draft, all, nameOf, isChanged }: DrawnProps) {
  const navigate = useNavigate();
  const { items: networks } = useEvery('listNetworks', {}, PAGES_MAX);
  const ids = all.slice(0, SHOWN_MAX);
  const shown = new Set(ids);
  const before = new Set(base?.practice_group_ids);
  const after = new Set(draft.practice_group_ids);
  const markOf = (id: string): Practice['mark'] =>
    after.has(id) ? (before.has(id) ? undefined : 'gains') : 'loses';
  const others: NetworkArea[] = networks
    .filter(
      ({ id, practice_group_ids }) => id !== base?.id && practice_group_ids.some((one) => shown.has(one)),
    )
    .map(({ id, name, practice_group_ids }) => ({
      id,
      name,
      members: practice_group_ids.filter((one) => shown.has(one)),
    }));
  const own: NetworkArea = {
    id: base?.id ?? 'new',
    name: draft.name || 'New network',
    members: ids.filter((id) => after.has(id)),
    isDraft: isChanged,
  };
  if (ids.length === 0)
    return <p className="soft">Nobody is in it yet. Add practices, and they appear here.</p>;
  return (
    <div>
      <Picture
        label="The network and its practices"
        practices={ids.map((id) => ({ id, name: nameOf(id), mark: markOf(id) }))}
        areas={own.members.length > 0 ? [own, ...others] : others}
        select={(practice) => void navigate({ to: '/networks', search: { practice } })}
      />
      {all.length > ids.length && (
        <p className="soft">
          The picture shows {ids.length} of {all.length} practices.
        </p>
      )}
    </div>
  );
}

interface SavingProps {
  base: NetworkNow | undefined;
  draft: Draft;
  isReady: boolean;
  said: string | undefined;
  discard: () => void;
}

function Saving({ base, draft, isReady, said, discard }: SavingProps) {
  const navigate = useNavigate();
  const { approvals } = useSession();
  const isSaved = useRef(false);
  useBlocker({
    shouldBlockFn: () => !isSaved.current && !window.confirm('The network is not saved. Leave it as it was?'),
    enableBeforeUnload: () => !isSaved.current,
  });
  const save = async () => {
    const { id, waits } = await saved(base, draft);
    isSaved.current = true;
    if (waits) await navigate(APPROVALS);
    else if (!base) await navigate({ to: '/networks/$id', params: { id } });
  };
  return (
    <div className="actions">
      <Confirm
        action="Save"
        isDestructive={false}
        isDisabled={!isReady}
        title={base ? `Change ${base.name}?` : `Create ${draft.name}?`}
        run={save}
      >
        <p>
          {said}{' '}
          {approvals.includes('networks')
            ? 'It waits until a second person has approved it.'
            : 'It works from the next call on.'}
        </p>
      </Confirm>
      <button type="button" className="button" onClick={discard}>
        Discard
      </button>
    </div>
  );
}

/** Broken off, it is done again: only what differs from the network as it then is, is asked for. */
async function saved(base: NetworkNow | undefined, draft: Draft): Promise<{ id: string; waits: boolean }> {
  try {
    if (!base) {
      const { data } = await ask('createNetwork', { body: { name: draft.name, ...toBody(draft) } });
      return { id: data.id, waits: isWaiting(data) };
    }
    const { id, practice_group_ids: before } = base;
    const { name, scopes, partner_ids } = draft;
    const changed = isSame({ ...draft, practice_group_ids: before }, base)
      ? []
      : [await ask('updateNetwork', { params: { id }, body: { name, scopes, partner_ids } })];
    const added = draft.practice_group_ids.filter((one) => !before.includes(one));
    const removed = before.filter((one) => !draft.practice_group_ids.includes(one));
    const answers = await Promise.all([
      ...added.map((practice_group_id) => ask('addNetworkMember', { params: { id, practice_group_id } })),
      ...removed.map((practice_group_id) =>
        ask('removeNetworkMember', { params: { id, practice_group_id } }),
      ),
    ]);
    return { id, waits: [...changed, ...answers].some(({ data }) => data && isWaiting(data)) };
  } finally {
    await Promise.all(
      ['getNetwork', 'listNetworks'].map((name) => queryClient.invalidateQueries({ queryKey: [name] })),
    );
  }
}
