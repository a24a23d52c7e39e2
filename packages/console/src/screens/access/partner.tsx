import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { one, useChange } from '../../api/client.ts';
import type { Partner as PartnerRecord } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { FormDialog, numberOrNull, Typed } from '../../parts/form.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Facts, Page } from '../../parts/page.tsx';
import { Steps } from '../../parts/steps.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { toExact, When } from '../../parts/when.tsx';
import { LatestRefusals } from '../oversight/latest-refusals.tsx';
import { Invitations } from './invitations.tsx';
import { AgreementFields, Agreements, agreementBody, agreementFields } from './partner-agreements.tsx';
import { Contacts } from './partner-contacts.tsx';
import { Sla } from './partner-sla.tsx';
import { PartnerKeys, PartnerUsage, PartnerWebhooks } from './partner-wellbeing.tsx';
import { Stops } from './stops.tsx';

/** Where are they in onboarding, what may they do, are they well? */
export function Partner() {
  const { id = '' } = useParams({ strict: false });
  const query = useQuery(one('getPartner', { params: { id } }));
  const may = useMay('admin', 'support');
  return (
    <Page
      title={query.data?.name ?? 'Partner'}
      trail={[{ title: 'Partners', to: '/partners' }]}
      actions={may && query.data && <ChangePartner partner={query.data} />}
    >
      <Loaded query={query}>
        {(partner) => (
          <>
            <Onboarding partner={partner} />
            <Tabs
              of={[
                { id: 'now', title: 'Keys and webhooks', content: () => <Overview partner={partner} /> },
                {
                  id: 'agreements',
                  title: 'Agreements and SLA',
                  content: () => (
                    <>
                      <Agreements partner={partner} />
                      <Sla partner={partner} />
                    </>
                  ),
                },
                {
                  id: 'contacts',
                  title: 'Contacts',
                  content: () => (
                    <>
                      <Contacts partner={partner} />
                      <Invitations of={{ partner_id: partner.id }} />
                    </>
                  ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Overview({ partner }: { partner: PartnerRecord }) {
  return (
    <>
      <Facts
        of={{
          ID: <Id>{partner.id}</Id>,
          Contact: partner.contact_email,
          'Calls a minute':
            partner.rate_limit_per_minute === null
              ? 'the default, for each key'
              : `${partner.rate_limit_per_minute} for each key`,
          SLA: partner.sla ?? 'none',
          Since: <When at={partner.created_at} />,
          'What they reach': (
            <Link to="/networks" search={{ partner: partner.id }}>
              Practices, and who let them
            </Link>
          ),
        }}
      />
      <Stops of={{ partner_id: partner.id }} />
      <PartnerKeys partner={partner} />
      <PartnerWebhooks partner={partner} />
      <PartnerUsage partner={partner} />
      <LatestRefusals of={{ partner_id: partner.id }} />
    </>
  );
}

const CHANGES = ['getPartner', 'listPartners', 'listAgreements', 'listAllWebhooks'] as const;

/** The three steps, and the one that is next. */
function Onboarding({ partner }: { partner: PartnerRecord }) {
  const may = useMay('admin', 'support');
  const { id, name, status } = partner;
  const params = { id };
  const verify = useChange('verifyPartner', CHANGES);
  const suspend = useChange('suspendPartner', CHANGES);
  const agreements = useQuery(one('listAgreements', { params, query: { page_size: 1 } }));
  const signed = agreements.data?.data[0];

  if (status === 'suspended')
    return (
      <Banner
        tone="stopped"
        actions={
          may && (
            <Confirm
              action="Lift the suspension"
              title={`Let ${name} work again?`}
              isDestructive={false}
              run={() => verify.mutateAsync({ params })}
            >
              <p>
                Its keys work from the next call on, and deliveries that were withheld are sent, for as long
                as events are kept.
              </p>
            </Confirm>
          )
        }
      >
        <strong>Suspended.</strong> Calls with its keys are refused, and its deliveries are withheld.
      </Banner>
    );

  const done = { applied: 1, agreement_signed: 2, verified: 3 }[status];
  return (
    <Steps
      label="Onboarding"
      done={done}
      of={[
        { title: 'Applied', note: toExact(partner.created_at) },
        { title: 'Agreement signed', note: signed ? toExact(signed.signed_at) : undefined },
        { title: 'Verified', note: done === 3 ? 'keys may be issued' : undefined },
      ]}
      actions={
        may && (
          <>
            {status === 'applied' && <SignAgreement partner={partner} />}
            {status === 'agreement_signed' && (
              <Confirm
                action="Verify"
                title={`Verify ${name}?`}
                isDestructive={false}
                run={() => verify.mutateAsync({ params })}
              >
                <p>You have checked who they are. From now on keys may be issued to them.</p>
              </Confirm>
            )}
            <Confirm action="Suspend" title={`Suspend ${name}?`} run={() => suspend.mutateAsync({ params })}>
              <Suspension id={id} />
            </Confirm>
          </>
        )
      }
    />
  );
}

/** What a suspension stops, counted when somebody asks for it. */
function Suspension({ id }: { id: string }) {
  const query = { partner_id: id, page_size: 100 };
  const keys = useQuery(one('listKeys', { query }));
  const webhooks = useQuery(one('listAllWebhooks', { query }));
  const active = keys.data?.data.filter(({ status }) => status === 'active').length;
  const counted = (count: number | undefined, more: string | null | undefined, one: string) =>
    count === undefined ? `its ${one}s` : `${count}${more ? '+' : ''} ${count === 1 ? one : `${one}s`}`;
  return (
    <p>
      Calls with {counted(active, keys.data?.next_cursor, 'working key')} are refused from the next one on,
      and what {counted(webhooks.data?.data.length, webhooks.data?.next_cursor, 'webhook')} should receive is
      withheld. Nothing is lost: lifting the suspension sends it.
    </p>
  );
}

function SignAgreement({ partner: { id, name } }: { partner: PartnerRecord }) {
  const sign = useChange('signAgreement', CHANGES);
  return (
    <FormDialog
      action="Record the agreement"
      title={`The agreement that ${name} signed`}
      submit="Record"
      kind="primary"
      initial={agreementFields(null)}
      run={(values) => {
        const given = Object.entries(agreementBody(values)).filter(([, value]) => value !== null);
        return sign.mutateAsync({ params: { id }, body: Object.fromEntries(given) });
      }}
    >
      {(form) => <AgreementFields form={form} />}
    </FormDialog>
  );
}

function ChangePartner({ partner }: { partner: PartnerRecord }) {
  const update = useChange('updatePartner', [...CHANGES, 'listPartnerContacts']);
  const { rate_limit_per_minute: limit } = partner;
  const wasSigned = partner.status !== 'applied';
  return (
    <FormDialog
      action="Change"
      title={`Change ${partner.name}`}
      submit="Save"
      initial={{
        name: partner.name,
        contact_email: partner.contact_email,
        rate_limit_per_minute: limit === null ? '' : String(limit),
      }}
      run={({ rate_limit_per_minute, ...body }) =>
        update.mutateAsync({
          params: { id: partner.id },
          body: {
            ...body,
            ...(wasSigned && { rate_limit_per_minute: numberOrNull(rate_limit_per_minute) }),
          },
        })
      }
    >
      {({ field }) => (
        <>
          <Typed label="Name" field={field('name')} autoFocus />
          <Typed label="E-mail" type="email" field={field('contact_email')} />
          {wasSigned && (
            <Typed
              label="Calls a minute"
              description="For each key, as the agreement says. Empty: the default."
              inputMode="numeric"
              field={field('rate_limit_per_minute')}
            />
          )}
        </>
      )}
    </FormDialog>
  );
}
