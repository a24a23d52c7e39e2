import type { PortalWay } from '../../api/generated-portal.ts';
import { List } from '../../parts/list.tsx';
import { nameOfKey } from '../../parts/name.tsx';
import { Page } from '../../parts/page.tsx';

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
          { title: 'ID', width: '8rem', cell: ({ id }) => <code>{id}</code> },
          { title: 'Key', width: '2fr', cell: ({ ways }) => <Key of={ways} /> },
          {
            title: 'Through',
            width: '9rem',
            wideOnly: true,
            cell: ({ ways: [way] }) => (way?.through ? <bdi>{way.through.name}</bdi> : 'a key of its own'),
          },
          {
            title: 'May do',
            width: '1.4fr',
            wideOnly: true,
            cell: ({ ways: [way] }) => <span className="soft">{way?.scopes.join(', ')}</span>,
          },
        ]}
      />
    </Page>
  );
}

function Key({ of: [way, ...others] }: { of: readonly PortalWay[] }) {
  if (!way) return '–';
  return (
    <bdi>
      {nameOfKey(way)}
      {others.length > 0 && ` and ${others.length} more`}
    </bdi>
  );
}
