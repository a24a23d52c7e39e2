import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { NetworkPreview, ReachDifference, ReachDifferences } from '../../api/generated.ts';
import { type Kind, pageOf } from '../../frame/addresses.ts';
import { Loaded } from '../../parts/loaded.tsx';
import { toCount } from './network-words.tsx';

const isNothing = ({ key_count, webhook_count }: ReachDifferences) => key_count + webhook_count === 0;

const toNumbers = ({ key_count, webhook_count }: ReachDifferences) =>
  [
    ...(key_count > 0 ? [toCount(key_count, 'key')] : []),
    ...(webhook_count > 0 ? [toCount(webhook_count, 'webhook')] : []),
  ].join(' and ');

/** In a sentence: how many gain, how many lose. */
export function toDifference({ gains, losses }: NetworkPreview): string {
  if (isNothing(gains) && isNothing(losses)) return 'No key and no webhook gains or loses reach.';
  const parts = [
    ...(isNothing(gains) ? [] : [`${toNumbers(gains)} gain reach.`]),
    ...(isNothing(losses) ? [] : [`${toNumbers(losses)} lose reach.`]),
  ];
  return parts.join(' ');
}

/** Who would gain, in brass, and who would lose, in red: keys and webhooks by name. */
export function Differences({ of: preview }: { of: NetworkPreview }) {
  const { gains, losses } = preview;
  return (
    <div className="stack" aria-live="polite">
      {isNothing(gains) && isNothing(losses) && <p>{toDifference(preview)}</p>}
      <Side title="Gain" className="gains" of={gains} />
      <Side title="Lose" className="loses" of={losses} />
    </div>
  );
}

function Side({ title, className, of: side }: { title: string; className: string; of: ReachDifferences }) {
  if (isNothing(side)) return null;
  const hidden = side.key_count + side.webhook_count - side.keys.length - side.webhooks.length;
  return (
    <section className={`difference ${className}`} aria-label={title}>
      <h3>
        {title}: {toNumbers(side)}
      </h3>
      <ul className="plain">
        {side.keys.map((key) => (
          <Difference key={key.id} kind="key" of={key} />
        ))}
        {side.webhooks.map((webhook) => (
          <Difference key={webhook.id} kind="webhook" of={webhook} />
        ))}
      </ul>
      {hidden > 0 && <p>And {hidden} more.</p>}
    </section>
  );
}

function Difference({ kind, of }: { kind: Extract<Kind, 'key' | 'webhook'>; of: ReachDifference }) {
  const { id, name, partner, home, practice_groups: reached, practice_group_count: count } = of;
  return (
    <li>
      <p>
        {kind === 'key' ? 'Key' : 'Webhook'}{' '}
        <Link to={pageOf(kind, id)} target="_blank">
          <bdi>{name}</bdi>
        </Link>{' '}
        of <strong>{partner.name}</strong>
        {home && (
          <>
            {' '}
            at <bdi>{home.name}</bdi>
          </>
        )}
      </p>
      {[...Map.groupBy(reached, ({ scopes }) => toScopes(scopes))].map(([scopes, groups]) => (
        <p key={scopes} className="soft">
          <bdi>{groups.map((group) => group.name).join(', ')}</bdi>: {scopes}
        </p>
      ))}
      {count > reached.length && <p className="soft">And {count - reached.length} practices more.</p>}
    </li>
  );
}

const SCOPES = 6;
const toScopes = (scopes: readonly string[]) => (scopes.length === SCOPES ? 'everything' : scopes.join(', '));

/** What a deletion would take away. */
export function DeletionLosses({ id }: { id: string }) {
  const query = useQuery(one('previewNetwork', { body: { id, practice_group_ids: [] } }));
  return (
    <Loaded query={query} rows={2}>
      {(preview) => (
        <>
          <p>{toDifference(preview)} They stop on the next call and the next delivery.</p>
          <Differences of={preview} />
        </>
      )}
    </Loaded>
  );
}
