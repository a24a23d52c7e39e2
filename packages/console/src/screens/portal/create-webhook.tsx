import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { ask, useChange } from '../../api/client.ts';
import type {
  AddressCheck,
  CreatedWebhook,
  EventName,
  PortalPractice,
  PortalWay,
} from '../../api/generated-portal.ts';
import { useEvery } from '../../parts/every.ts';
import { toSentence } from '../../parts/failure.tsx';
import { Chosen, FormDialog, type FormState, Ticked, Typed, textOrNull } from '../../parts/form.tsx';
import { Empty } from '../../parts/page.tsx';
import { Secret } from '../../parts/secret.tsx';
import { State } from '../../parts/state.tsx';
import { eventTitles } from '../events/event-words.ts';
import { hostOf } from '../events/webhook-state.tsx';

interface Fields {
  practice: string;
  url: string;
  event_types: string[];
  description: string;
}

const ALL = '*';
const PAGES_MAX = 5;

/** A key that may create webhooks, of those that reach the practice. */
const creating = (ways: readonly PortalWay[]): PortalWay | undefined =>
  ways.find(
    ({ scopes, demands }) =>
      scopes.includes('webhooks:write') && scopes.includes('events:read') && demands !== 'proof',
  );

/** With its secret, which is shown this once. */
export function CreateWebhook() {
  const [made, setMade] = useState<CreatedWebhook>();
  const navigate = useNavigate();
  if (made)
    return (
      <Secret
        name={`The secret of ${hostOf(made.url)}`}
        value={made.secret}
        fileName={`porter-${hostOf(made.url)}.txt`}
        done={() => {
          setMade(undefined);
          void navigate({ to: `/portal/webhooks/${made.id}` });
        }}
      />
    );
  return <Create done={setMade} />;
}

function Create({ done }: { done: (made: CreatedWebhook) => void }) {
  const { items } = useEvery('listPortalPractices', {}, PAGES_MAX);
  const practices = items.flatMap((practice) => {
    const way = creating(practice.ways);
    return way ? { ...practice, way } : [];
  });
  const create = useChange('createWebhook', ['listPortalWebhooks', 'getPortalHome']);
  return (
    <FormDialog
      action="Create webhook"
      submit="Create"
      kind="primary"
      title="Create a webhook"
      initial={
        {
          practice: '',
          url: '',
          event_types: Object.keys(eventTitles),
          description: '',
        } satisfies Fields as Fields
      }
      run={async ({ practice, url, event_types, description }) => {
        const isForAll = practice === ALL;
        const chosen = practices.find(({ id }) => id === practice) ?? practices[0];
        if (!chosen) return;
        const body = {
          url: url.trim(),
          event_types: event_types as EventName[],
          description: textOrNull(description),
          ...(isForAll && { practice_groups: 'all' as const }),
        };
        done((await create.mutateAsync({ way: chosen.way, body })).data);
      }}
    >
      {(form) =>
        practices.length === 0 ? (
          <Empty>
            No key of yours may create webhooks: it takes the scopes webhooks:write and events:read, and no
            proof beside the key. Ask support.
          </Empty>
        ) : (
          <CreateFields form={form} practices={practices} />
        )
      }
    </FormDialog>
  );
}

function CreateFields({
  form: { field },
  practices,
}: {
  form: FormState<Fields>;
  practices: readonly PortalPractice[];
}) {
  const { value, onChange, error } = field('practice');
  return (
    <>
      <Chosen
        label="Events of"
        field={{ value: value || (practices[0]?.id ?? ''), onChange, error }}
        choices={[
          ...practices.map(({ id, name }) => ({ value: id, title: name })),
          { value: ALL, title: 'every practice that we may act for, now and later' },
        ]}
      />
      <Typed
        label="Address"
        type="url"
        placeholder="https://"
        description="Public and https. Redirects are not followed."
        field={field('url')}
      />
      <AddressTried url={field('url').value} />
      <Ticked
        label="It receives"
        field={field('event_types')}
        choices={Object.entries(eventTitles).map(([value, title]) => ({ value, title }))}
      />
      <Typed label="Description" field={field('description')} />
    </>
  );
}

const kinds = { reached: 'fine', not_reached: 'failing', not_tried: 'waiting', refused: 'stopped' } as const;
const words = {
  reached: 'reached',
  not_reached: 'not reached',
  not_tried: 'not tried',
  refused: 'not allowed',
};

/** Whether the address can be reached, before anything is created. */
function AddressTried({ url }: { url: string }) {
  const [tried, setTried] = useState<
    { url: string; check: AddressCheck } | { url: string; failure: string }
  >();
  const [isRunning, setRunning] = useState(false);
  const run = async () => {
    setRunning(true);
    try {
      const { data } = await ask('checkPortalAddress', { body: { url: url.trim() } });
      setTried({ url, check: data });
    } catch (error) {
      setTried({ url, failure: toSentence(error) });
    }
    setRunning(false);
  };
  const shown = tried?.url === url ? tried : undefined;
  return (
    <div className="tried">
      <Button className="button" isDisabled={isRunning || url.trim() === ''} onPress={() => void run()}>
        Try the address
      </Button>
      <span role="status">
        {shown && 'check' in shown && (
          <>
            <State kind={kinds[shown.check.outcome]}>{words[shown.check.outcome]}</State>{' '}
            <bdi>{shown.check.message.replace(/^Reached\. /, '')}</bdi>
          </>
        )}
        {shown && 'failure' in shown && shown.failure}
      </span>
    </div>
  );
}
