import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { type Acting, type Operation, useChange } from '../../api/client.ts';
import type { EventName, RotatedWebhookSecret } from '../../api/generated-portal.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Chosen, FormDialog, momentOrNull, Typed, toLocalInput } from '../../parts/form.tsx';
import { Secret } from '../../parts/secret.tsx';
import { toExact } from '../../parts/when.tsx';
import { eventTitles } from '../events/event-words.ts';
import { toQueued } from '../events/webhook-state.tsx';

/** What people of a partner do to a webhook. Each says what will happen, and to how many. */

const CHANGED: readonly Operation[] = [
  'getPortalWebhook',
  'listPortalWebhooks',
  'listWebhookDeliveries',
  'getWebhookDelivery',
  'getPortalHome',
];

/** As much of a webhook as has to be known for that. */
export interface Acted {
  id: string;
  /** What people call it: its host. */
  name: string;
  queued: number;
  way: Acting;
  event_types: readonly EventName[];
}

interface ActProps {
  of: Acted;
}

const waiting = ({ queued }: Acted) => (queued === 1 ? '1 delivery' : `${toQueued(queued)} deliveries`);

export function Pause({ of: webhook }: ActProps) {
  const { mutateAsync } = useChange('updateWebhook', CHANGED);
  const { id, way, name } = webhook;
  return (
    <Confirm
      action="Pause"
      isDestructive={false}
      title={`Pause ${name}?`}
      run={() => mutateAsync({ way, params: { id }, body: { status: 'paused' } })}
    >
      <p>
        Nothing is sent to it until somebody activates it. {waiting(webhook)} that wait now, and those to
        come, stay queued for as long as events are kept.
      </p>
    </Confirm>
  );
}

export function Activate({ of: webhook }: ActProps) {
  const { mutateAsync } = useChange('updateWebhook', CHANGED);
  const { id, way, name } = webhook;
  return (
    <Confirm
      action="Activate"
      isDestructive={false}
      title={`Activate ${name}?`}
      run={() => mutateAsync({ way, params: { id }, body: { status: 'active' } })}
    >
      <p>
        {waiting(webhook)} that wait are sent to it now, in their order. Its count of failures begins anew.
      </p>
    </Confirm>
  );
}

export function Remove({ of: { id, way, name } }: ActProps) {
  const { mutateAsync } = useChange('deleteWebhook', ['listPortalWebhooks', 'getPortalHome']);
  const navigate = useNavigate();
  return (
    <Confirm
      action="Delete"
      title={`Delete ${name}?`}
      typed={{ label: `Type ${name} to delete it`, text: name }}
      run={async () => {
        await mutateAsync({ way, params: { id } });
        await navigate({ to: '/portal/webhooks' });
      }}
    >
      <p>Its deliveries go, too: what is queued is not sent any more. Events stay in the feed.</p>
    </Confirm>
  );
}

export function SendTest({ of: { id, way, name, event_types } }: ActProps) {
  const { mutateAsync } = useChange('testWebhook', CHANGED);
  const [said, setSaid] = useState<string>();
  return (
    <>
      {said && <span role="status">{said}</span>}
      <FormDialog
        action="Send a test event"
        submit="Send"
        kind="primary"
        title={`Send a test event to ${name}`}
        initial={{ event: event_types[0] as string }}
        run={async ({ event }) => {
          await mutateAsync({ way, params: { id }, body: { event: event as EventName } });
          setSaid('The test event is on its way: the delivery log has it.');
        }}
      >
        {({ field }) => (
          <>
            <p>
              An event with example values, signed and retried like any other. Nothing happened in a practice.
            </p>
            <Chosen
              label="Event"
              field={field('event')}
              choices={Object.entries(eventTitles).map(([value, title]) => ({ value, title }))}
            />
          </>
        )}
      </FormDialog>
    </>
  );
}

/** The new secret is shown once. The old one is known to whoever uses it: until when it signs as well is told. */
export function Rotate({ of: { id, way, name } }: ActProps) {
  const { mutateAsync } = useChange('rotateWebhookSecret', CHANGED);
  const [rotated, setRotated] = useState<RotatedWebhookSecret>();
  if (rotated)
    return (
      <div className="stack">
        <p role="status">
          Until {toExact(rotated.previous_secret_expires_at)} deliveries carry two signatures: one with this
          new secret, and one with the secret that you have now. Change over in that time.
        </p>
        <Secret
          name={`The new secret of ${name}`}
          value={rotated.secret}
          fileName={`porter-${name}.txt`}
          done={() => setRotated(undefined)}
        />
      </div>
    );
  return (
    <Confirm
      action="Rotate secret"
      isDestructive={false}
      title={`Rotate the secret of ${name}?`}
      run={async () => setRotated((await mutateAsync({ way, params: { id } })).data)}
    >
      <p>
        Deliveries are signed with a new secret from now on, and with the present one as well for 24 hours.
        Receivers that take either go on without a gap.
      </p>
    </Confirm>
  );
}

const DAY_MS = 86_400_000;

export function Replay({ of: { id, way, name } }: ActProps) {
  const { mutateAsync } = useChange('replayWebhook', CHANGED);
  const [said, setSaid] = useState<string>();
  return (
    <>
      {said && <span role="status">{said}</span>}
      <FormDialog
        action="Replay…"
        submit="Replay"
        title={`Replay events to ${name}`}
        initial={{ since: toLocalInput(new Date(Date.now() - DAY_MS).toISOString()), until: '' }}
        run={async (typed) => {
          const until = momentOrNull(typed.until);
          const { data } = await mutateAsync({
            way,
            params: { id },
            body: { since: momentOrNull(typed.since) ?? '', ...(until && { until }) },
          });
          setSaid(data.count === 1 ? '1 delivery will be sent.' : `${data.count} deliveries will be sent.`);
        }}
      >
        {({ field }) => (
          <>
            <p>
              Every event of these hours that the webhook subscribes to is sent to it, those that it has
              received already too, under the same webhook-id.
            </p>
            <Typed label="From" type="datetime-local" field={field('since')} />
            <Typed label="To" type="datetime-local" description="Empty: up to now." field={field('until')} />
          </>
        )}
      </FormDialog>
    </>
  );
}
