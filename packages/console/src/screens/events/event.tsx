import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { ask, one, queryClient } from '../../api/client.ts';
import type { EventLife, EventTarget } from '../../api/generated.ts';
import { pageOf } from '../../frame/addresses.ts';
import { useMay } from '../../frame/session.ts';
import { Attempts } from '../../parts/attempts.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { useFilters } from '../../parts/filters.tsx';
import { Id } from '../../parts/id.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { KeyName } from '../../parts/name.tsx';
import { Banner, Empty, Page, Section } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { When } from '../../parts/when.tsx';
import { causes, eventTitles, isMissing, isReplayable, stateOf } from './event-words.ts';

/** Who got it, who did not, and why? From its cause to every webhook, with each attempt of the one that is opened. */
export function Event() {
  const { id } = useParams({ strict: false }) as { id: string };
  const query = useQuery(one('getEventLife', { params: { id } }));
  const title = query.data ? eventTitles[query.data.payload.event] : 'Event';
  return (
    <Page title={title} trail={[{ title: 'Events', to: '/events' }]}>
      <Loaded query={query}>{(life) => <Life of={life} />}</Loaded>
    </Page>
  );
}

function Life({ of: life }: { of: EventLife }) {
  const { values, set } = useFilters(['webhook']);
  const sent = life.targets.filter(({ outcome }) => outcome !== 'not_sent');
  const notSent = life.targets.filter(({ outcome }) => outcome === 'not_sent');
  const row = (target: EventTarget) => (
    <Target
      key={target.webhook_id}
      of={target}
      eventId={life.id}
      isOpen={values.webhook === target.webhook_id}
      toggle={(open) => void set('webhook', open ? target.webhook_id : undefined)}
    />
  );
  return (
    <>
      <Outcome of={life} />
      <Section title="What happened">
        <ol className="steps">
          <li>
            <strong>Cause</strong>
            <p>
              {causes[life.cause.kind]}{' '}
              <span className="soft">
                {life.cause.source.type === 'key' ? (
                  <>
                    By the key <KeyName id={life.cause.source.id} />
                  </>
                ) : (
                  <>
                    By <bdi>{life.cause.source.name ?? life.cause.source.id}</bdi>
                  </>
                )}
                , about {life.payload.object} <code>{life.payload.id}</code>.
              </span>
            </p>
          </li>
          <li>
            <strong>Accepted</strong>
            <p>
              <When at={life.accepted_at} /> for{' '}
              <Link to={pageOf('practice_group', life.practice_group.id)}>
                <bdi>{life.practice_group.name}</bdi>
              </Link>
              {life.test && ', as a test'}. <Id>{life.id}</Id>
            </p>
          </li>
          <li>
            <strong>Fanned out</strong>
            <p>{toFanOut(life, sent.length)}</p>
          </li>
        </ol>
      </Section>
      <Section title="Sent to">
        {sent.length === 0 ? (
          <Empty>It was sent to nobody.</Empty>
        ) : (
          <ul className="targets">{sent.map(row)}</ul>
        )}
      </Section>
      {notSent.length > 0 && (
        <Section title="Not sent to">
          <ul className="targets">{notSent.map(row)}</ul>
        </Section>
      )}
      {life.target_count > life.targets.length && (
        <p className="soft">And {life.target_count - life.targets.length} webhooks more.</p>
      )}
    </>
  );
}

function toFanOut({ feed_position: position, test, targets }: EventLife, sent: number): string {
  if (position === null && !test && sent === 0)
    return 'Not yet: it waits to be put into the queues of the webhooks.';
  const place = position === null ? '' : ` It has place ${position.toLocaleString('en')} in the feed.`;
  const partners = new Set(targets.filter((one) => one.outcome !== 'not_sent').map((one) => one.partner.id))
    .size;
  const webhooks = sent === 1 ? '1 webhook' : `${sent} webhooks`;
  return `To ${webhooks} of ${partners === 1 ? '1 partner' : `${partners} partners`}.${place}`;
}

/** In one sentence, with its next button. */
function Outcome({ of: life }: { of: EventLife }) {
  const sent = life.targets.filter(({ outcome }) => outcome !== 'not_sent');
  const delivered = sent.filter(({ outcome }) => outcome === 'delivered').length;
  const missing = life.targets.filter(isMissing);
  const isFailing = sent.some((target) => stateOf(target)[0] === 'failing');
  const tone = isFailing ? 'failing' : delivered === sent.length ? 'fine' : 'waiting';
  const mayReplay = useMay('admin', 'support');
  return (
    <Banner
      tone={sent.length === 0 ? 'stopped' : tone}
      actions={mayReplay && missing.length > 0 && <Replay eventId={life.id} to={missing} />}
    >
      <strong>
        {sent.length === 0
          ? 'Nobody was sent it.'
          : delivered === sent.length
            ? `Everybody who was sent it has it: ${delivered} of ${sent.length}.`
            : `${delivered} of ${sent.length} have it.`}
      </strong>{' '}
      {sent
        .filter(({ outcome, explanation }) => outcome !== 'delivered' && explanation)
        .slice(0, 2)
        .map(({ webhook_id, partner, explanation }) => (
          <span key={webhook_id}>
            <bdi>{partner.name}</bdi>: {explanation}{' '}
          </span>
        ))}
    </Banner>
  );
}

function Target({
  of: target,
  eventId,
  isOpen,
  toggle,
}: {
  of: EventTarget;
  eventId: string;
  isOpen: boolean;
  toggle: (open: boolean) => void;
}) {
  const { webhook_id, url, partner, explanation, attempts, next_attempt_at, finished_at } = target;
  const [kind, word] = stateOf(target);
  const mayReplay = useMay('admin', 'support') && isReplayable(target);
  return (
    <li>
      <Disclosure
        isOpen={isOpen}
        toggle={toggle}
        title={
          <>
            <bdi className="name">{partner.name}</bdi>
            <State kind={kind}>{word}</State>
            <bdi className="soft">{new URL(url).host}</bdi>
          </>
        }
        aside={explanation ?? (finished_at && <When at={finished_at} />)}
      >
        <p>
          <Link to={pageOf('webhook', webhook_id)}>
            <bdi>{url}</bdi>
          </Link>{' '}
          of <Link to={pageOf('partner', partner.id)}>{partner.name}</Link>
        </p>
        {attempts.length > 0 && <Attempts of={attempts} next={next_attempt_at} />}
        {mayReplay && <Replay eventId={eventId} to={[target]} />}
      </Disclosure>
    </li>
  );
}

function Replay({ eventId, to }: { eventId: string; to: readonly EventTarget[] }) {
  const run = async () => {
    for (const { webhook_id: id } of to)
      await ask('replayPartnerWebhook', { params: { id }, body: { event_ids: [eventId] } });
    await queryClient.invalidateQueries({ queryKey: ['getEventLife'] });
  };
  const names = [...new Set(to.map(({ partner }) => partner.name))].join(', ');
  const isAgain = to.every(({ outcome }) => outcome === 'delivered');
  return (
    <Confirm
      action={to.length > 1 ? `Replay to ${to.length}` : isAgain ? 'Send again' : 'Replay'}
      isDestructive={false}
      title="Replay this event?"
      run={run}
    >
      <p>
        It is sent to {to.length === 1 ? 'one webhook' : `${to.length} webhooks`} now: {names}.{' '}
        {isAgain
          ? 'The receiver has it already, and sees the same webhook-id again.'
          : 'Who has it already gets it no second time.'}
      </p>
    </Confirm>
  );
}
