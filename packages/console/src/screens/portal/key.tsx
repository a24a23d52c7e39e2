import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { PortalKey } from '../../api/generated-portal.ts';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { nameOfKey } from '../../parts/name.tsx';
import { Banner, Facts, Page, Section } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { Calls } from './calls.tsx';

/** Does it work, what may it do, and how much of it do we use? */
export function Key() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getPortalKey', { params: { id } }));
  return (
    <Page
      title={query.data ? nameOfKey(query.data) : 'Key'}
      trail={[{ title: 'Keys and limits', to: '/portal/keys' }]}
    >
      <Loaded query={query}>
        {(key) => (
          <>
            <Standing of={key} />
            <Section title="Calls">
              <Calls of={key.days} />
              <p>
                <Link to={`/portal/refused?key_id=${key.id}`}>Refused calls with this key</Link>
              </p>
            </Section>
            <Section title="About it">
              <Facts
                of={{
                  'Tied to': <bdi>{key.practice_group.name}</bdi>,
                  'May do': key.scopes.join(', '),
                  'Calls a minute': key.rate_limit_per_minute,
                  'Used last': (
                    <>
                      <When at={key.last_used_at} />
                      {key.last_used_from && ` from ${key.last_used_from}`}
                    </>
                  ),
                  'Works from': key.allowed_addresses?.join(', ') ?? 'anywhere',
                  'Asks for, beside itself': proofs[key.proof],
                  Ends: key.expires_at ? <When at={key.expires_at} /> : 'never',
                  Issued: <When at={key.created_at} />,
                  ID: <Id>{key.id}</Id>,
                }}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

const proofs: Record<PortalKey['proof'], string> = {
  none: 'nothing',
  mtls: 'a client certificate',
  private_key_jwt: 'a signed assertion',
};

function Standing({ of: key }: { of: PortalKey }) {
  if (key.status === 'revoked')
    return (
      <Banner tone="stopped">
        <strong>
          Revoked <When at={key.revoked_at} />.
        </strong>{' '}
        {key.replaced_by ? (
          <>
            <Link to={`/portal/keys/${key.replaced_by}`}>Another key</Link> has taken its place.
          </>
        ) : (
          'Ask support for another one if you need it.'
        )}
      </Banner>
    );
  if (key.status === 'expired')
    return (
      <Banner tone="stopped">
        <strong>
          Expired <When at={key.expires_at} />.
        </strong>{' '}
        Ask support to rotate it.
      </Banner>
    );
  const refused = key.today.refused + key.today.rate_limited;
  return (
    <Banner tone="fine">
      <strong>It works.</strong> {refused} of its calls {refused === 1 ? 'was' : 'were'} refused today.
      {key.proof !== 'none' &&
        ' It asks for more than itself: in this portal you see with it, and change nothing.'}
    </Banner>
  );
}
