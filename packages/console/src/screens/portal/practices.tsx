import type { PortalWay } from '../../api/generated-portal.ts';
import { List } from '../../parts/list.tsx';
import { nameOfKey } from '../../parts/name.tsx';
import { Page } from '../../parts/page.tsx';
import { type Scope, scopes } from '../access/scopes.ts';

/** For which practices may we act, and who let us? */
export function Practices() {
  return (
    <Page title="Practices">
      <p className="soft">
        Those that a key of yours may act for at this moment. Send the ID as x-practice-group-id.
      </p>
      <List
        label="Practices"
        of="listPortalPractices"
        input={{}}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/portal/events?practice=${encodeURIComponent(id)}`}
        empty="There is none: no key of yours works. Support issues keys."
        columns={[
          { title: 'Practice', width: '1.4fr', cell: ({ name }) => <bdi>{name}</bdi> },
          { title: 'ID', width: '8rem', broad: true, cell: ({ id }) => <code>{id}</code> },
          { title: 'Key', width: '1.2fr', cell: ({ ways }) => <Key of={ways} /> },
          {
            title: 'Through',
            width: '1.4fr',
            wideOnly: true,
            cell: ({ ways: [way] }) => (way?.through ? <bdi>{way.through.name}</bdi> : 'a key of its own'),
          },
          {
            title: 'May do',
            width: '1.4fr',
            wideOnly: true,
            cell: ({ ways: [way] }) => <span className="soft">{way && toScopes(way.scopes)}</span>,
          },
        ]}
      />
    </Page>
  );
}

/** In a column that holds one line. */
const toScopes = (of: readonly Scope[]): string =>
  of.length === Object.keys(scopes).length ? 'everything that a key may do' : of.join(', ');

function Key({ of: [way, ...others] }: { of: readonly PortalWay[] }) {
  if (!way) return '–';
  return (
    <bdi>
      {nameOfKey(way)}
      {others.length > 0 && ` and ${others.length} more`}
    </bdi>
  );
}
