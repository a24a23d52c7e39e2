import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { one, useChange, withEtag } from '../../api/client.ts';
import type { ApiKey, Approval, IssuedApiKey } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Chosen, FormDialog } from '../../parts/form.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { nameOfKey, PartnerName, PracticeName } from '../../parts/name.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { Secret } from '../../parts/secret.tsx';
import { isWaiting, Waits } from '../../parts/waits.tsx';
import { When } from '../../parts/when.tsx';
import { LatestRefusals } from '../oversight/latest-refusals.tsx';
import { KeyFields, keyBody, keyFields } from './key-fields.tsx';
import { KeyUsage } from './key-usage.tsx';
import { KeyWorks } from './key-works.tsx';
import { scopes } from './scopes.ts';

const CHANGES = ['getKey', 'listKeys', 'listAgreements', 'listAllWebhooks'] as const;

/** Who uses it, from where, how much, is the old one still used? */
export function Key() {
  const { id = '' } = useParams({ strict: false });
  const query = useQuery(withEtag('getKey', { params: { id } }));
  const key = query.data?.data;
  const partner = useQuery({
    ...one('getPartner', { params: { id: key?.partner_id ?? '' } }),
    enabled: key !== undefined,
  });
  const may = useMay('admin', 'support');
  const [issued, setIssued] = useState<IssuedApiKey | Approval>();
  const isActive = key?.status === 'active';
  return (
    <Page
      title={key ? nameOfKey(key) : 'Key'}
      trail={[
        { title: 'Partners', to: '/partners' },
        ...(key ? [{ title: partner.data?.name ?? '…', to: `/partners/${key.partner_id}` }] : []),
      ]}
      actions={
        may &&
        key &&
        isActive && (
          <>
            {key.replaced_by === null && <Rotate of={key} issued={setIssued} />}
            <ChangeKey of={key} etag={query.data?.etag} waits={setIssued} />
            <Revoke of={key} />
          </>
        )
      }
    >
      {issued && isWaiting(issued) && <Waits approval={issued} />}
      {issued && !isWaiting(issued) && (
        <Secret
          name={`The new key in place of …${key?.last_four}`}
          value={issued.key}
          fileName={`porter-key-${issued.last_four}.txt`}
          done={() => setIssued(undefined)}
        />
      )}
      <Loaded query={query}>{({ data }) => <About of={data} />}</Loaded>
    </Page>
  );
}

function About({ of: key }: { of: ApiKey }) {
  return (
    <>
      <KeyWorks of={key} />
      <Facts
        of={{
          Partner: <PartnerName id={key.partner_id} />,
          Practice: <PracticeName id={key.practice_group_id} />,
          'Last use': key.last_used_at ? (
            <>
              <When at={key.last_used_at} /> from {key.last_used_from ?? 'an address that is not known'}
            </>
          ) : (
            'never'
          ),
          'Calls a minute': key.rate_limit_per_minute ?? 'as the agreement says',
          'From where': key.allowed_addresses?.join(', ') ?? 'anywhere',
          'A call must show': proofOf(key),
          Issued: <When at={key.created_at} />,
          Expires: key.expires_at ? <When at={key.expires_at} /> : 'never',
          ID: <Id>{key.id}</Id>,
          'Begins and ends': (
            <code>
              {key.prefix}…{key.last_four}
            </code>
          ),
        }}
      />
      <Section title="What it may do">
        <ul className="scopes">
          {key.scopes.map((scope) => (
            <li key={scope}>
              <code>{scope}</code> <span>{scopes[scope]}</span>
            </li>
          ))}
        </ul>
      </Section>
      <KeyUsage of={key} />
      <LatestRefusals of={{ key_id: key.id }} />
    </>
  );
}

function proofOf({ proof, certificate_fingerprints, jwks }: ApiKey): string {
  if (proof === 'mtls') return `one of ${certificate_fingerprints.length} client certificates`;
  if (proof === 'private_key_jwt') return `a JWT that one of ${jwks?.keys.length ?? 0} keys signed`;
  return 'nothing but the key';
}

const overlaps = [
  { value: '86400', title: 'for a day' },
  { value: '3600', title: 'for an hour' },
  { value: '604800', title: 'for a week' },
  { value: '2592000', title: 'for 30 days' },
  {
    value: '0',
    title: 'no longer: it ends at once',
    description: 'Calls with the old key are refused from now on.',
  },
];

function Rotate({ of: key, issued }: { of: ApiKey; issued: (answer: IssuedApiKey | Approval) => void }) {
  const rotate = useChange('rotateKey', CHANGES);
  return (
    <FormDialog
      action="Rotate"
      title={`Rotate ${nameOfKey(key)}`}
      submit="Issue the new key"
      kind="primary"
      initial={{ overlap_seconds: '86400' }}
      run={async ({ overlap_seconds }) => {
        const body = { overlap_seconds: Number(overlap_seconds) };
        issued((await rotate.mutateAsync({ params: { id: key.id }, body })).data);
      }}
    >
      {({ field }) => (
        <>
          <p>A new key is issued with the same practice, scopes and settings, and shown once.</p>
          <Chosen label="The old one keeps working" field={field('overlap_seconds')} choices={overlaps} />
        </>
      )}
    </FormDialog>
  );
}

function ChangeKey({
  of: key,
  etag,
  waits,
}: {
  of: ApiKey;
  etag: string | undefined;
  waits: (approval: Approval | undefined) => void;
}) {
  const update = useChange('updateKey', CHANGES);
  return (
    <FormDialog
      action="Change"
      title={`Change ${nameOfKey(key)}`}
      submit="Save"
      initial={{ ...keyFields(key), etag: etag ?? '' }}
      run={async ({ etag: ifMatch, ...values }, opened) => {
        const { expires_at, ...body } = keyBody(values);
        // To the minute it is as it was: what nobody changed is not sent.
        const isMoved = values.expires_at !== opened.expires_at;
        const { data } = await update.mutateAsync({
          params: { id: key.id },
          body: { ...body, ...(isMoved && { expires_at }) },
          ifMatch,
        });
        waits(isWaiting(data) ? data : undefined);
      }}
    >
      {(form) => <KeyFields form={form} />}
    </FormDialog>
  );
}

function Revoke({ of: key }: { of: ApiKey }) {
  const revoke = useChange('revokeKey', CHANGES);
  return (
    <Confirm
      action="Revoke"
      title={`Revoke ${nameOfKey(key)}?`}
      typed={{ label: 'Type the last four characters of the key', text: key.last_four }}
      run={() => revoke.mutateAsync({ params: { id: key.id } })}
    >
      <p>
        Calls with it are refused on every node from the moment that this is answered, and it cannot be
        undone. It was last used {key.last_used_at ? <When at={key.last_used_at} /> : 'never'}. Deliveries
        that its partner may have through no other key are withheld.
      </p>
    </Confirm>
  );
}
