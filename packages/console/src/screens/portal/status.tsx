import { useQuery } from '@tanstack/react-query';
import { one } from '../../api/client.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Page, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

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
                items={[...days].reverse()}
                keyOf={({ day }) => day}
                empty=""
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
                          {down === 0 ? 'ran' : `down for ${down} ${down === 1 ? 'minute' : 'minutes'}`}
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
