import { Link } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import { pageOf } from '../../frame/addresses.ts';
import { PracticeSearch } from '../../parts/practice-search.tsx';
import { toCount } from './network-words.tsx';

interface MembersProps {
  of: readonly string[];
  /** Who is in it now. */
  before: readonly string[];
  nameOf: (id: string) => string;
  /** Undefined: one may only look. */
  change: ((to: string[]) => void) | undefined;
}

/** The practices of a network; in a draft, those that join in brass and those that leave in red. */
export function Members({ of: members, before, nameOf, change }: MembersProps) {
  const left = before.filter((id) => !members.includes(id));
  return (
    <section aria-labelledby="members">
      <h2 id="members">{toCount(members.length, 'practice')}</h2>
      <ul className="plain lines">
        {members.map((id) => (
          <li key={id} className={before.includes(id) ? undefined : 'gains'}>
            <Link to={pageOf('practice_group', id)}>
              <bdi>{nameOf(id)}</bdi>
            </Link>
            {!before.includes(id) && <span>joins</span>}
            {change && (
              <Button
                className="link"
                aria-label={`Remove ${nameOf(id)}`}
                onPress={() => change(members.filter((other) => other !== id))}
              >
                Remove
              </Button>
            )}
          </li>
        ))}
        {left.map((id) => (
          <li key={id} className="loses">
            <bdi>{nameOf(id)}</bdi>
            <span>leaves</span>
            {change && (
              <Button
                className="link"
                aria-label={`Keep ${nameOf(id)}`}
                onPress={() => change([...members, id])}
              >
                Keep
              </Button>
            )}
          </li>
        ))}
      </ul>
      {change && (
        <PracticeSearch
          label="Add a practice"
          clears
          onPick={(practice) => {
            if (practice && !members.includes(practice.id)) change([...members, practice.id]);
          }}
        />
      )}
    </section>
  );
}
