import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { Attention, AttentionGroup, AttentionItem } from '../../api/generated.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Page } from '../../parts/page.tsx';
import { State, type StateKind } from '../../parts/state.tsx';
import { When } from '../../parts/when.tsx';
import { Figures } from './now-figures.tsx';
import { NextStep, pageOfSubject } from './now-next-step.tsx';

/** What needs me? By its cause, worst first, each line with its one next step; how the service does, below. */
export function Now() {
  const attention = useQuery(one('getAttention', {}));
  return (
    <Page title="Now">
      <Loaded query={attention} rows={4}>
        {(data) => <NeedsMe of={data} />}
      </Loaded>
      <Figures />
    </Page>
  );
}

function NeedsMe({ of: { data, count, at } }: { of: Attention }) {
  if (count === 0)
    return (
      <Banner tone="fine">
        <State kind="fine">Nothing needs you.</State> Last looked <When at={at} />.
      </Banner>
    );
  return (
    <>
      <p className="soft">{count === 1 ? 'One thing needs somebody.' : `${count} things need somebody.`}</p>
      {data.map((group) => (
        <Cause key={`${group.kind} ${group.cause}`} of={group} />
      ))}
    </>
  );
}

const states: Record<AttentionGroup['severity'], StateKind> = {
  critical: 'failing',
  warning: 'withheld',
  notice: 'waiting',
};

interface Column {
  title: string;
  has: (item: AttentionItem) => unknown;
  cell: (item: AttentionItem) => React.ReactNode;
  /** How wide it is. */
  of: 'names' | 'times' | 'counts';
}

/** What is counted, where it is not plain. */
const counted: Partial<Record<AttentionGroup['kind'], string>> = {
  webhook_failing: 'Failed attempts',
  refusals_rising: 'Refused this hour',
  changes_pending: 'Not answered',
};

const COUNT = 'Count';

/** A column that no line of a group has anything for is left out. What most groups have comes first, and so stands in line from group to group. */
const columns: readonly Column[] = [
  {
    title: 'Practice',
    has: ({ practice_group }) => practice_group,
    cell: ({ practice_group }) => <bdi>{practice_group?.name ?? 'all practices'}</bdi>,
    of: 'names',
  },
  {
    title: 'Since',
    has: ({ since }) => since,
    cell: ({ since }) => since && <When at={since} />,
    of: 'times',
  },
  {
    title: 'Expires',
    has: ({ until }) => until,
    cell: ({ until }) => until && <When at={until} />,
    of: 'times',
  },
  { title: 'Queued', has: ({ queued }) => queued !== null, cell: ({ queued }) => queued, of: 'counts' },
  {
    title: 'Oldest',
    has: ({ oldest_at }) => oldest_at,
    cell: ({ oldest_at }) => oldest_at && <When at={oldest_at} />,
    of: 'times',
  },
  {
    title: COUNT,
    has: ({ count }) => count,
    cell: ({ count, usual }) => (usual === null ? count : `${count}, usual ${usual}`),
    of: 'counts',
  },
];

function Cause({ of: group }: { of: AttentionGroup }) {
  const { kind, cause, title, remedy, severity, count, items } = group;
  const id = `cause-${kind}-${cause}`;
  const hasPartner = items.some(({ partner }) => partner && partner.id !== items[0]?.subject.id);
  const shown = columns
    .filter(({ has }) => items.some(has))
    .map((column) => (column.title === COUNT ? { ...column, title: counted[kind] ?? COUNT } : column));
  return (
    <section className={`cause ${severity}`} aria-labelledby={id}>
      <div className="section-head">
        <h2 id={id}>
          <State kind={states[severity]}>
            <span>
              {title}
              {cause && `: ${toWords(cause)}`}
            </span>
          </State>
        </h2>
        {count > 1 && <span className="soft">{count} in all</span>}
      </div>
      <p className="soft">{remedy}</p>
      <table className="rows">
        <thead>
          <tr>
            {hasPartner && (
              <th scope="col" className="names">
                Partner
              </th>
            )}
            <th scope="col" className="names" colSpan={hasPartner ? 1 : 2}>
              About
            </th>
            {shown.map((column) => (
              <th key={column.title} scope="col" className={column.of}>
                {column.title}
              </th>
            ))}
            <th scope="col" className="next">
              <span className="visually-hidden">Next step</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={item.subject.id}>
              {hasPartner && (
                <td>
                  <strong>
                    <bdi>{item.partner?.name}</bdi>
                  </strong>
                </td>
              )}
              <th scope="row" colSpan={hasPartner ? 1 : 2}>
                <Link {...pageOfSubject(kind, item)}>
                  <bdi>{item.subject.name}</bdi>
                </Link>
              </th>
              {shown.map((column) => (
                <td key={column.title} data-title={column.title}>
                  {column.cell(item)}
                </td>
              ))}
              <td className="next">
                <NextStep kind={kind} of={item} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {count > items.length && <p className="soft">And {count - items.length} more.</p>}
    </section>
  );
}

/** `status_503` and `tls_certificate_expired`, as people say it. */
function toWords(cause: string): string {
  const [, status] = /^status_(\d+)$/.exec(cause) ?? [];
  if (status) return `the receiver answers ${status}`;
  return cause.replaceAll('_', ' ').replace(/^(tls|dns)\b/, (word) => word.toUpperCase());
}
