import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { one, useChange } from '../../api/client.ts';
import type { Contact, OperatorAlert } from '../../api/generated.ts';
import { useMay } from '../../frame/session.ts';
import { Confirm } from '../../parts/confirm.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PartnerName, PracticeName } from '../../parts/name.tsx';
import { Banner, Empty, Facts, Page, Section } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { AlertSentence } from './alert-sentence.tsx';
import { alertTitles, endings } from './alert-words.ts';
import { Subject } from './alerts.tsx';

/** What is the matter, since when, and who knows of it? */
export function Alert() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getAlert', { params: { id } }));
  return (
    <Page
      title={query.data ? `${alertTitles[query.data.kind]}: ${query.data.subject.name}` : 'Alert'}
      trail={[{ title: 'Alerts', to: '/alerts' }]}
    >
      <Loaded query={query}>
        {(alert) => (
          <>
            <Standing of={alert} />
            <Section title="About it">
              <Facts
                of={{
                  'What it is about': <Subject of={alert.subject} practiceId={alert.practice_group_id} />,
                  Partner: alert.partner_id ? <PartnerName id={alert.partner_id} /> : 'the operator alone',
                  Practice: alert.practice_group_id ? (
                    <PracticeName id={alert.practice_group_id} />
                  ) : undefined,
                  Began: <When at={alert.began_at} />,
                  Ended: alert.ended_at ? <When at={alert.ended_at} /> : 'not yet',
                  ID: <Id>{alert.id}</Id>,
                }}
              />
            </Section>
            <Told of={alert} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Standing({ of: alert }: { of: OperatorAlert }) {
  const { id, partner_id, ended_at, ended_because, remedy } = alert;
  const mayRemind = useMay('admin', 'support') && ended_at === null && partner_id !== null;
  const { mutateAsync } = useChange('remindOfAlert', []);
  const [isReminded, setReminded] = useState(false);
  return (
    <Banner
      tone={ended_at ? 'fine' : 'failing'}
      actions={
        isReminded ? (
          <span role="status">They are told again.</span>
        ) : (
          mayRemind && (
            <Confirm
              action="Remind the partner"
              isDestructive={false}
              title="Remind the partner?"
              run={async () => {
                await mutateAsync({ params: { id } });
                setReminded(true);
              }}
            >
              <p>Its contacts are told of this alert once more, by e-mail.</p>
            </Confirm>
          )
        )
      }
    >
      <strong>
        <AlertSentence of={alert} />
      </strong>{' '}
      {ended_at ? (
        <>
          It ended <When at={ended_at} />
          {ended_because && `: ${endings[ended_because]}`}.
        </>
      ) : (
        <bdi>{remedy}</bdi>
      )}
    </Banner>
  );
}

/** Of a leaked key everybody is told. */
const isTold = (kind: OperatorAlert['kind']) => (contact: Contact) =>
  kind === 'key_leaked' || contact.alert_kinds === null || contact.alert_kinds.includes(kind);

/** Those who are told of this kind by e-mail: of the partner, and of the operator. */
function Told({ of: { partner_id: partnerId, kind } }: { of: OperatorAlert }) {
  const query = { page_size: 100 };
  const own = useQuery(one('listContacts', { query }));
  const partners = useQuery({
    ...one('listPartnerContacts', { params: { id: partnerId ?? '' }, query }),
    enabled: partnerId !== null,
  });
  const told = [...(partners.data?.data ?? []), ...(own.data?.data ?? [])].filter(isTold(kind));
  return (
    <Section title="Who is told of this by e-mail">
      <Loaded query={own} rows={2}>
        {() =>
          told.length === 0 ? (
            <Empty>Nobody: there is no contact who wants to hear of this.</Empty>
          ) : (
            <ul className="plain">
              {told.map((contact) => (
                <li key={contact.id}>
                  <bdi>{contact.name ?? contact.email}</bdi>{' '}
                  {contact.name && <bdi className="soft">{contact.email}</bdi>}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Section>
  );
}
