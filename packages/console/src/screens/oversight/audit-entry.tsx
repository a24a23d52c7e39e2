import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { AuditEntry as Entry } from '../../api/generated.ts';
import { type Kind, pageOf } from '../../frame/addresses.ts';
import { Differences } from '../../parts/differences.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { KeyName, PartnerName, PracticeName } from '../../parts/name.tsx';
import { Facts, Page, Section } from '../../parts/page.tsx';
import { toExact, When, zone } from '../../parts/when.tsx';
import { inWords } from './audit-words.ts';

/** One thing that somebody did, with all that changed. */
export function AuditEntry() {
  const { seq = '' } = useParams({ strict: false });
  const query = useQuery(one('getAuditEntry', { params: { seq } }));
  return (
    <Page
      title={query.data ? `${nameOfActor(query.data)} ${inWords(query.data.action)}` : 'Entry of the audit'}
      trail={[{ title: 'Audit', to: '/audit' }]}
    >
      <Loaded query={query}>
        {(entry) => (
          <>
            <Facts
              of={{
                When: (
                  <>
                    <When at={entry.at} />{' '}
                    <span className="soft">
                      ({toExact(entry.at)}, {zone})
                    </span>
                  </>
                ),
                Who: <Actor of={entry} />,
                What: <Subject of={entry.subject} />,
                Practice: entry.practice_group_id ? <PracticeName id={entry.practice_group_id} /> : undefined,
                Request: entry.request_id ? <Id>{entry.request_id}</Id> : undefined,
                Erasure: entry.erased_by ? 'Identifiers were taken out of this entry.' : undefined,
                Entry: entry.seq,
                Hash: <Id>{entry.hash}</Id>,
              }}
            />
            <Section
              title={
                entry.before === null ? 'As it began' : entry.after === null ? 'As it was' : 'What changed'
              }
            >
              <Differences before={entry.before} after={entry.after} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

export const nameOfActor = ({ actor: { type, name, id } }: Entry): string =>
  name ?? (type === 'system' ? 'Porter' : id);

export function Actor({ of: { actor } }: { of: Entry }) {
  if (actor.type === 'partner')
    return (
      <>
        {actor.name && (
          <>
            <bdi>{actor.name}</bdi> with{' '}
          </>
        )}
        <KeyName id={actor.id} />
      </>
    );
  if (actor.type === 'system') return <>{actor.name ?? 'Porter'}</>;
  return (
    <Link to="/audit" search={{ actor_id: actor.id }}>
      <bdi>{actor.name ?? actor.id}</bdi>
    </Link>
  );
}

const kinds: Record<string, Kind> = {
  network: 'network',
  webhook: 'webhook',
  event: 'event',
  change: 'change',
  delivery: 'delivery',
};

/** What it was done to, by its name where there is a page for it. */
export function Subject({ of: { type, id } }: { of: Entry['subject'] }) {
  if (type === 'partner') return <PartnerName id={id} />;
  if (type === 'key') return <KeyName id={id} />;
  if (type === 'practice_group') return <PracticeName id={id} />;
  const kind = kinds[type];
  const words = type.replaceAll('_', ' ');
  // Of some kinds there is one, and it has no ID of its own.
  const name = id === type ? words : `${words} ${id}`;
  return kind ? <Link to={pageOf(kind, id)}>{name}</Link> : name;
}
