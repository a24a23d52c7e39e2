import { useQuery } from '@tanstack/react-query';
import { one } from '../../api/client.ts';
import type { ServiceStatus } from '../../api/generated-portal.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Page, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { toDuration, When } from '../../parts/when.tsx';

/** From the first day of which something is known: before it the service was not there. */
const known = (days: ServiceStatus['days']) => {
  const first = days.findIndex(({ percent }) => percent !== null);
  return first === -1 ? [] : days.slice(first);
};

/** Is it us, or is it them? */
export function Status() {
  const query = useQuery(one('getPortalStatus', {}));
  return (
    <Page title="Service status">
      <Loaded query={query}>
        {({ deliveries, checked_at, support_contact, days }) => (
          <>
            {deliveries === 'on_time' ? (
              <Banner tone="fine">
                <strong>The service runs, and takes up deliveries in time.</strong> Asked{' '}
                <When at={checked_at} />.
              </Banner>
            ) : (
              <Banner tone="failing">
                <strong>The service runs, and is late with deliveries, whoever they are for.</strong> Nothing
                is lost. Support knows: <bdi>{support_contact}</bdi>.
              </Banner>
            )}
            <Section title="The last 30 days">
              <Table
                label="Days"
                items={known(days).reverse()}
                keyOf={({ day }) => day}
                empty="Nothing is known yet: it is written down from day to day."
                columns={[
                  { title: 'Day (UTC)', width: '1fr', cell: ({ day }) => day },
                  {
                    title: 'State',
                    width: '1fr',
                    cell: ({ percent, minutes_down: down }) =>
                      percent === null ? (
                        <span className="soft">not known</span>
                      ) : (
                        <State kind={down === 0 ? 'fine' : 'failing'}>
                          {down === 0 ? 'ran' : `down for ${toDuration(down * 60_000)}`}
                        </State>
                      ),
                  },
                  {
                    title: 'Ran',
                    width: '1fr',
                    cell: ({ percent }) => (percent === null ? '–' : `${percent} %`),
                  },
                ]}
              />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}
