import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { one, useChange } from '../../api/client.ts';
import type { Node, Setting } from '../../api/generated.ts';
import { isAttended } from '../../frame/attended.ts';
import { useMay } from '../../frame/session.ts';
import { Chosen, FormDialog } from '../../parts/form.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { toDuration, When } from '../../parts/when.tsx';

const NODES_EVERY_MS = 10_000;
/** As the service has it: beyond, a node delivers nothing. */
const SKEW_MS_MAX = 3_000;

/** The processes that are alive, how well their clocks go, and what each does of the work. */
export function Nodes() {
  const query = useQuery({ ...one('listNodes', {}), refetchInterval: () => isAttended() && NODES_EVERY_MS });
  return (
    <Section title="Nodes">
      <Loaded query={query} rows={3}>
        {({ data }) => (
          <Table
            label="Nodes"
            items={data}
            keyOf={({ id }) => id}
            empty="None has given a sign of life within the last minute."
            columns={[
              {
                title: 'Node',
                width: '2fr',
                cell: ({ name, answering }) => (
                  <>
                    {name} {answering && <span className="soft">(answers you)</span>}
                  </>
                ),
              },
              { title: 'Role', width: '5rem', cell: ({ role }) => role },
              { title: 'Clock', width: '1.5fr', cell: (node) => <Skew of={node} /> },
              { title: 'Share of the work', width: '2fr', cell: (node) => <Share of={node} /> },
              { title: 'Version', width: '6rem', wideOnly: true, cell: ({ version }) => version },
              {
                title: 'Started',
                width: '8rem',
                wideOnly: true,
                cell: ({ started_at }) => <When at={started_at} />,
              },
              { title: 'Last sign', width: '8rem', cell: ({ seen_at }) => <When at={seen_at} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function Skew({ of: { clock_skew_ms: skew } }: { of: Node }) {
  const apart = toDuration(Math.abs(skew));
  if (Math.abs(skew) > SKEW_MS_MAX)
    return <State kind="failing">{`${apart} ${skew > 0 ? 'ahead' : 'behind'}: delivers nothing`}</State>;
  return <State kind="fine">{skew === 0 ? 'exact' : `${apart} ${skew > 0 ? 'ahead' : 'behind'}`}</State>;
}

function Share({
  of: { name, share_percent: share, calls_per_minute, deliveries_per_minute },
}: {
  of: Node;
}) {
  return (
    <span className="share">
      {share !== null && <progress value={share} max={100} aria-label={`Share of the work of ${name}`} />}
      <span className="words">
        {share === null ? 'nothing to do' : `${Math.round(share)} %`}
        <span className="soft small">
          {calls_per_minute} calls, {deliveries_per_minute} attempts a minute
        </span>
      </span>
    </span>
  );
}

/** With what this deployment runs. Secrets are never shown. */
export function SettingsInForce() {
  const query = useQuery(one('listSettings', {}));
  return (
    <Section title="Settings in force">
      <Loaded query={query} rows={10}>
        {({ data }) => (
          <Table
            label="Settings in force"
            items={data}
            keyOf={({ name }) => name}
            empty="None."
            columns={[
              { title: 'Setting', width: '2fr', cell: ({ name }) => <SettingName of={name} /> },
              { title: 'Value', width: '2fr', cell: shownValue },
              { title: 'Comes from', width: '8rem', cell: ({ source }) => sources[source] },
              { title: 'Means', width: '3fr', wideOnly: true, cell: ({ description }) => description },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

/** A name that takes two lines breaks between its words. */
function SettingName({ of: name }: { of: string }) {
  return (
    <code>
      {name.split(/(?<=_)/).map((word, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {word}
        </Fragment>
      ))}
    </code>
  );
}

const sources: Record<Setting['source'], string> = {
  environment: 'environment',
  default: 'the default',
  made: 'made here',
};

function shownValue({ value, secret, source }: Setting) {
  if (secret)
    return <span className="soft">{source === 'default' ? 'not set' : '•••••••• (not shown)'}</span>;
  return value === null ? <span className="soft">not set</span> : value;
}

const overlaps = [
  { value: '604800', title: 'for a week' },
  { value: '86400', title: 'for a day' },
  { value: '2592000', title: 'for 30 days' },
  {
    value: '0',
    title: 'no longer: it ends at once',
    description: 'Receivers that have not fetched the new one refuse deliveries until they do.',
  },
];

/** The keys that sign deliveries for everybody; receivers fetch their public parts. */
export function SigningKeys() {
  const query = useQuery(one('listSigningKeys', {}));
  const rotate = useChange('rotateSigningKey', ['listSigningKeys']);
  const may = useMay('admin');
  return (
    <Section
      title="Signing keys"
      actions={
        may && (
          <FormDialog
            action="Rotate"
            title="Rotate the signing key"
            submit="Rotate"
            initial={{ overlap_seconds: '604800' }}
            run={({ overlap_seconds }) =>
              rotate.mutateAsync({ body: { overlap_seconds: Number(overlap_seconds) } })
            }
          >
            {({ field }) => (
              <>
                <p>A new key signs from now on, beside the old one.</p>
                <Chosen
                  label="The old one keeps signing"
                  field={field('overlap_seconds')}
                  choices={overlaps}
                />
              </>
            )}
          </FormDialog>
        )
      }
    >
      <p className="soft">
        They sign deliveries of webhooks that ask for Ed25519. Receivers fetch the public parts from{' '}
        <code>/.well-known/webhook-keys</code>.
      </p>
      <Loaded query={query} rows={2}>
        {({ data }) => (
          <Table
            label="Signing keys"
            items={data}
            keyOf={({ id }) => id}
            empty="There is none."
            columns={[
              { title: 'Public key', width: '3fr', cell: ({ public_key }) => <Id>{public_key}</Id> },
              { title: 'Since', width: '1fr', cell: ({ created_at }) => <When at={created_at} /> },
              {
                title: 'Signs until',
                width: '1fr',
                cell: ({ expires_at }) =>
                  expires_at ? <When at={expires_at} /> : <State kind="fine">the newest</State>,
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
