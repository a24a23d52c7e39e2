import { useQuery } from '@tanstack/react-query';
import { one } from '../../api/client.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { PracticeName } from '../../parts/name.tsx';
import { Section } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';

const SHOWN = 5;

/** The latest calls of a key, or of a partner, that were refused. */
export function LatestRefusals({ of }: { of: { key_id: string } | { partner_id: string } }) {
  const query = useQuery(one('listRefusedRequests', { query: { ...of, page_size: SHOWN } }));
  const filter = new URLSearchParams(of).toString();
  return (
    <Section title="Latest refusals">
      <Loaded query={query} rows={3}>
        {({ data, next_cursor }) => (
          <Table
            label="Latest refusals"
            items={data}
            keyOf={({ request_id, at }) => `${request_id}${at}`}
            hrefOf={({ request_id }) => `/refused/${request_id}`}
            empty="No call was refused lately."
            more={next_cursor ? { to: `/refused?${filter}`, title: 'All refused calls' } : undefined}
            columns={[
              { title: 'Call', width: '2fr', cell: ({ method, path }) => `${method} ${path}` },
              { title: 'Answer', width: '1.5fr', cell: ({ status, error }) => `${status} ${error}` },
              {
                title: 'Why',
                width: '3fr',
                wideOnly: true,
                cell: ({ explanation }) => <span className="clamped">{explanation}</span>,
              },
              {
                title: 'Practice',
                width: '1.5fr',
                wideOnly: true,
                cell: ({ practice_group_id }) =>
                  practice_group_id ? <PracticeName id={practice_group_id} /> : '–',
              },
              { title: 'From', width: '1fr', wideOnly: true, cell: ({ address }) => address ?? '–' },
              { title: 'When', width: '8rem', cell: ({ at }) => <When at={at} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  );
}
