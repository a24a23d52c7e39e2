import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { one } from '../../api/client.ts';
import type { Named, RequestCheck, RequestExplanation } from '../../api/generated.ts';
import { pageOf } from '../../frame/addresses.ts';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Banner, Facts, Page, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { toExact, When, zone } from '../../parts/when.tsx';
import { OperationName } from '../operation-name.tsx';
import { Answered } from './refusal.tsx';
import { checkTitles, toPlain, toRefusal, toSentences } from './refusal-words.ts';

/** Which check refused it, and what would have passed? */
export function RefusedCall() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('explainRequest', { params: { request_id: id } }));
  const call = query.data?.request;
  return (
    <Page
      title={call ? `${call.method} ${call.path}` : 'Refused call'}
      trail={[{ title: 'Refused calls', to: '/refused' }]}
    >
      <Loaded query={query}>{(explained) => <Explained of={explained} />}</Loaded>
    </Page>
  );
}

function Explained({
  of: { request, partner, key, practice_group: practice, checks },
}: {
  of: RequestExplanation;
}) {
  return (
    <>
      <Banner tone="failing">
        <strong>
          Refused with {request.status}: {toRefusal(request)}.
        </strong>{' '}
        <bdi>{toSentences(request)}</bdi>
      </Banner>
      <Section title="Check by check">
        <ol className="checks" aria-label="Checks, in the order in which they are made">
          {checks.map((check) => (
            <Check key={check.check} of={check} isToldByField={request.error === 'validation_error'} />
          ))}
        </ol>
        <p className="soft">What a key or a network grants is told as it is now.</p>
      </Section>
      <Section title="The call">
        <Facts
          of={{
            Partner: <NamedLink kind="partner" of={partner} />,
            Key: (
              <>
                {key ? <NamedLink kind="key" of={key} /> : <code>{request.key_id}</code>}{' '}
                <Link className="soft" to="/refused" search={{ key_id: request.key_id }}>
                  what else was refused with it
                </Link>
              </>
            ),
            Practice: practice ? (
              <NamedLink kind="practice_group" of={practice} />
            ) : (
              'none, or none that there is'
            ),
            When: (
              <>
                <When at={request.at} />, {toExact(request.at)} ({zone})
              </>
            ),
            'Came from': request.address ?? 'not known',
            Operation: <OperationName id={request.operation} withId />,
            'Request ID': <Id>{request.request_id}</Id>,
          }}
        />
      </Section>
      <Section title="What it was answered">
        <Answered of={request.answer} />
      </Section>
    </>
  );
}

function NamedLink({ kind, of: { id, name } }: { kind: 'partner' | 'key' | 'practice_group'; of: Named }) {
  return (
    <Link to={pageOf(kind, id)}>
      <bdi>{name}</bdi>
    </Link>
  );
}

const outcomes = {
  passed: ['fine', 'passed'],
  refused: ['failing', 'refused'],
  not_reached: ['stopped', 'not reached'],
} as const;

/** Where each field is told of, so is what would have passed. */
function Check({
  of: { check, outcome, found, needed },
  isToldByField,
}: {
  of: RequestCheck;
  isToldByField: boolean;
}) {
  const [kind, word] = outcomes[outcome];
  return (
    <li data-outcome={outcome}>
      <State kind={kind}>{word}</State>
      <div>
        <strong>{checkTitles[check]}</strong>
        {found && (
          <p>
            <bdi>{toPlain(found)}</bdi>
          </p>
        )}
        {needed && !isToldByField && (
          <p>
            What would have passed: <bdi>{toPlain(needed)}</bdi>
          </p>
        )}
      </div>
    </li>
  );
}
