import { useQuery } from '@tanstack/react-query';
import { all, useChange } from '../../api/client.ts';
import type { Agreement, Partner, SlaTargets } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import {
  Chosen,
  FormDialog,
  type FormState,
  momentOrNull,
  numberOrNull,
  Typed,
  textOrNull,
  toLocalInput,
} from '../../parts/form.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

interface AgreementFieldsOf {
  version: string;
  signatory: string;
  document_url: string;
  signed_at: string;
  ends_at: string;
  rate_limit_per_minute: string;
  slaIs: string;
  sla: string;
  'sla.availability_percent': string;
  'sla.latency_ms': string;
  'sla.delivery_success_percent': string;
  'sla.delivery_seconds': string;
}

const typed = (value: string | number | null | undefined): string => (value == null ? '' : String(value));

/** What stands in the form: as the agreement is, or as it is when one is recorded today. */
export function agreementFields(agreement: Agreement | null): AgreementFieldsOf {
  const targets = agreement?.sla_targets;
  return {
    version: typed(agreement?.version),
    signatory: typed(agreement?.signatory),
    document_url: typed(agreement?.document_url),
    signed_at: toLocalInput(agreement?.signed_at ?? null),
    ends_at: toLocalInput(agreement?.ends_at ?? null),
    rate_limit_per_minute: typed(agreement?.rate_limit_per_minute),
    slaIs: targets ? 'targets' : 'words',
    sla: targets ? '' : typed(agreement?.sla),
    'sla.availability_percent': typed(targets?.availability_percent),
    'sla.latency_ms': typed(targets?.latency_ms?.p95),
    'sla.delivery_success_percent': typed(targets?.delivery_success_percent),
    'sla.delivery_seconds': typed(targets?.delivery_seconds?.p95),
  };
}

export function agreementBody(values: AgreementFieldsOf) {
  return {
    version: textOrNull(values.version),
    signatory: textOrNull(values.signatory),
    document_url: textOrNull(values.document_url),
    signed_at: momentOrNull(values.signed_at),
    ends_at: momentOrNull(values.ends_at),
    rate_limit_per_minute: numberOrNull(values.rate_limit_per_minute),
    sla: values.slaIs === 'words' ? textOrNull(values.sla) : targetsOf(values),
  };
}

function targetsOf(values: AgreementFieldsOf): SlaTargets {
  const availability = numberOrNull(values['sla.availability_percent']);
  const latency = numberOrNull(values['sla.latency_ms']);
  const success = numberOrNull(values['sla.delivery_success_percent']);
  const delivery = numberOrNull(values['sla.delivery_seconds']);
  return {
    ...(availability !== null && { availability_percent: availability }),
    ...(latency !== null && { latency_ms: { p95: latency } }),
    ...(success !== null && { delivery_success_percent: success }),
    ...(delivery !== null && { delivery_seconds: { p95: delivery } }),
  };
}

export function AgreementFields({
  form: { field, values },
  isNew = true,
}: {
  form: FormState<AgreementFieldsOf>;
  isNew?: boolean;
}) {
  return (
    <>
      <div className="fields">
        <Typed label="Version" description="Which text was signed." field={field('version')} autoFocus />
        <Typed label="Signatory" description="Who signed for them." field={field('signatory')} />
        {isNew && <Typed label="Signed" type="datetime-local" field={field('signed_at')} />}
        <Typed
          label="Ends"
          description="Empty: until further notice."
          type="datetime-local"
          field={field('ends_at')}
        />
      </div>
      <Typed label="Document" type="url" placeholder="https://" field={field('document_url')} />
      <Typed
        label="Calls a minute"
        description="For each key. Empty: the default."
        inputMode="numeric"
        field={field('rate_limit_per_minute')}
      />
      <Chosen
        label="SLA"
        field={field('slaIs')}
        choices={[
          { value: 'words', title: 'in words', description: 'It is kept and shown, and not measured.' },
          { value: 'targets', title: 'as targets', description: 'They are measured month by month.' },
        ]}
      />
      {values.slaIs === 'words' ? (
        <Typed label="In words" field={field('sla')} />
      ) : (
        <div className="fields">
          <Typed label="Availability, %" inputMode="decimal" field={field('sla.availability_percent')} />
          <Typed
            label="95 % of calls answered within, ms"
            inputMode="decimal"
            field={field('sla.latency_ms')}
          />
          <Typed
            label="Deliveries that arrive, %"
            inputMode="decimal"
            field={field('sla.delivery_success_percent')}
          />
          <Typed
            label="95 % of deliveries within, s"
            inputMode="decimal"
            field={field('sla.delivery_seconds')}
          />
        </div>
      )}
    </>
  );
}

const CHANGES = ['listAgreements', 'getPartner', 'listPartners', 'getSla'] as const;

/** What they signed, over time: the newest first. */
export function Agreements({ partner }: { partner: Partner }) {
  const params = { id: partner.id };
  const query = useQuery(all('listAgreements', { params }));
  const may = useMay('admin', 'support');
  return (
    <Section title="Agreements" actions={may && <RecordAgreement partner={partner} />}>
      <Loaded query={query} rows={3}>
        {({ data }) => (
          <Table
            label="Agreements"
            items={[...data].sort((a, b) => b.signed_at.localeCompare(a.signed_at))}
            keyOf={({ id }) => id}
            empty="They have signed nothing yet."
            columns={[
              {
                title: 'Version',
                width: '1.5fr',
                cell: ({ version, document_url }) =>
                  document_url ? (
                    <a href={document_url} rel="noreferrer noopener" target="_blank">
                      {version ?? 'the document'}
                    </a>
                  ) : (
                    (version ?? <span className="soft">not known</span>)
                  ),
              },
              {
                title: 'State',
                width: '6.5rem',
                cell: ({ status }) =>
                  status === 'in_force' ? (
                    <State kind="fine">in force</State>
                  ) : (
                    <State kind="stopped">ended</State>
                  ),
              },
              { title: 'Signed', width: '8rem', cell: ({ signed_at }) => <When at={signed_at} /> },
              { title: 'By', width: '1.2fr', wideOnly: true, cell: ({ signatory }) => signatory ?? '–' },
              {
                title: 'Ends',
                width: '1fr',
                cell: ({ ends_at }) => (ends_at ? <When at={ends_at} /> : <span className="soft">open</span>),
              },
              {
                title: 'Calls a minute',
                width: '7rem',
                wideOnly: true,
                cell: ({ rate_limit_per_minute }) => rate_limit_per_minute ?? 'default',
              },
              { title: 'SLA', width: '2fr', wideOnly: true, cell: ({ sla }) => sla ?? 'none' },
              { title: 'Keys', width: '4rem', cell: ({ active_keys }) => active_keys },
              ...(may
                ? [
                    {
                      title: 'Actions',
                      width: '7rem',
                      cell: (agreement: Agreement) => (
                        <span className="actions small">
                          <ChangeAgreement agreement={agreement} />
                        </span>
                      ),
                    },
                  ]
                : []),
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}

function RecordAgreement({ partner: { id, name } }: { partner: Partner }) {
  const create = useChange('createAgreement', CHANGES);
  return (
    <FormDialog
      action="Record an agreement"
      title={`An agreement that ${name} signed`}
      submit="Record"
      initial={{
        ...agreementFields(null),
        signed_at: toLocalInput(new Date(Date.now() - 60_000).toISOString()),
      }}
      run={(values) => {
        const { version, signatory, signed_at, ...body } = agreementBody(values);
        return create.mutateAsync({
          params: { id },
          body: { ...body, version: version ?? '', signatory: signatory ?? '', signed_at: signed_at ?? '' },
        });
      }}
    >
      {(form) => (
        <>
          <p className="soft">
            The one that was signed last gives their terms, and new keys are issued under it. Keys that there
            are stay under theirs.
          </p>
          <AgreementFields form={form} />
        </>
      )}
    </FormDialog>
  );
}

function ChangeAgreement({ agreement }: { agreement: Agreement }) {
  const update = useChange('updateAgreement', CHANGES);
  const { id, partner_id, version } = agreement;
  return (
    <FormDialog
      action="Change"
      title={`Change agreement ${version ?? id}`}
      submit="Save"
      initial={agreementFields(agreement)}
      run={(values) => {
        const { version, signatory, signed_at: _, ...body } = agreementBody(values);
        return update.mutateAsync({
          params: { id: partner_id, agreement_id: id },
          body: { ...body, ...(version !== null && { version }), ...(signatory !== null && { signatory }) },
        });
      }}
    >
      {(form) => <AgreementFields form={form} isNew={false} />}
    </FormDialog>
  );
}
