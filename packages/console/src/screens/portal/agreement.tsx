import { useQuery } from '@tanstack/react-query';
import { one } from '../../api/client.ts';
import type { OwnAgreement } from '../../api/generated-portal.ts';
import { useFilters } from '../../parts/filters.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { PickMonth, Report } from '../access/partner-sla.tsx';

/** What was agreed, and was it kept? */
export function Agreement() {
  const query = useQuery(one('listPortalAgreements', { query: { page_size: 100 } }));
  return (
    <Page title="Agreement">
      <Loaded query={query}>
        {({ data }) => {
          const inForce = data.filter(({ status }) => status !== 'ended');
          return inForce.length === 0 ? (
            <Empty>No agreement is in force. Ask support.</Empty>
          ) : (
            inForce.map((agreement) => <One key={agreement.id} of={agreement} />)
          );
        }}
      </Loaded>
      <Served />
    </Page>
  );
}

function One({ of: agreement }: { of: OwnAgreement }) {
  return (
    <Section title={agreement.version ? `Version ${agreement.version}` : 'In force'}>
      <Facts
        of={{
          Signed: <When at={agreement.signed_at} />,
          By: agreement.signatory ? <bdi>{agreement.signatory}</bdi> : undefined,
          Ends: agreement.ends_at ? <When at={agreement.ends_at} /> : 'when somebody ends it',
          'Calls a minute': agreement.rate_limit_per_minute ?? 'the usual limit',
          'Service level': agreement.sla ? <bdi>{agreement.sla}</bdi> : undefined,
          Document: agreement.document_url ? (
            <a href={agreement.document_url} target="_blank" rel="noreferrer">
              <bdi>{agreement.document_url}</bdi>
            </a>
          ) : undefined,
        }}
      />
    </Section>
  );
}

function Served() {
  const { values } = useFilters(['month']);
  const query = useQuery(one('getPortalSla', { query: { month: values.month } }));
  return (
    <Section title="How you were served" actions={<PickMonth />}>
      <Loaded query={query}>{(report) => <Report of={report} />}</Loaded>
    </Section>
  );
}
