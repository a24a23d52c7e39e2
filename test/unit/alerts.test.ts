import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alertKindNames } from '../../src/contract/alerts.ts';
import { retryAfter } from '../../src/domain/mail.ts';
import { plain } from '../../src/domain/oversight/alert-words.ts';
import {
  type AgreementFact,
  type AlertFacts,
  decideAlerts,
  type KeyFact,
  type NewAlert,
  noDetails,
  type OpenAlert,
  type StopFact,
  type WebhookFact,
} from '../../src/domain/oversight/alerts.ts';
import { compose, type Notice, wants } from '../../src/domain/oversight/notification.ts';

const NOW = Date.parse('2026-11-16T10:20:00.000Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ago = (ms: number) => new Date(NOW - ms).toISOString();
const thresholds = { partnerWaitingDays: 7, lateMinutes: 90, ehrDownMinutes: 30, changesPendingMinutes: 60 };

const nothing: AlertFacts = {
  webhooks: [],
  keys: [],
  refusals: [],
  partners: [],
  groups: [],
  pending: [],
  agreements: [],
  stops: [],
  unclaimedSince: null,
  isServed: true,
};
const webhook: WebhookFact = {
  id: 'wh_1',
  host: 'partner.example',
  partnerId: 'prt_1',
  practiceGroupId: 'group-1',
  status: 'active',
  statusReason: null,
  updatedAt: ago(90 * DAY),
  isDeleted: false,
  isWithheld: false,
  failures: 4,
  failingSince: null,
  oldest: null,
};
const key: KeyFact = {
  id: 'key_1',
  name: 'Key',
  partnerId: 'prt_1',
  practiceGroupId: 'group-1',
  isPartnerVerified: true,
  createdAt: ago(200 * DAY),
  expiresAt: null,
  isRevoked: false,
  isReplaced: false,
  lastUsedAt: ago(HOUR),
};
const stop: StopFact = {
  id: 'stp_1',
  name: 'P',
  partnerId: 'prt_1',
  practiceGroupId: 'g',
  since: ago(HOUR),
  isLifted: false,
};

const agreement: AgreementFact = {
  id: 'agr_1',
  name: '2026-1',
  partnerId: 'prt_1',
  isPartnerVerified: true,
  endsAt: ago(DAY),
  keys: 2,
};

const decide = (facts: Partial<AlertFacts>, open: OpenAlert[] = []) =>
  decideAlerts({ ...nothing, ...facts }, open, NOW, thresholds);
const begun = (facts: Partial<AlertFacts>) => decide(facts).begin.map(({ kind }) => kind);
const opened = (kind: OpenAlert['kind'], subjectId: string): OpenAlert => ({
  id: `alt_${kind}`,
  kind,
  subjectId,
});

describe('when an alert begins', () => {
  it.each<[string, Partial<AlertFacts>, string[]]>([
    ['nothing is the matter', { webhooks: [webhook], keys: [key] }, []],
    [
      'a webhook fails for an hour',
      { webhooks: [{ ...webhook, failingSince: ago(HOUR) }] },
      ['webhook_failing'],
    ],
    ['for less', { webhooks: [{ ...webhook, failingSince: ago(HOUR - 1) }] }, []],
    [
      'it is paused, deleted or withheld',
      {
        webhooks: [
          { ...webhook, status: 'paused', failingSince: ago(HOUR) },
          { ...webhook, id: 'wh_2', isDeleted: true, failingSince: ago(HOUR) },
          { ...webhook, id: 'wh_3', isWithheld: true, failingSince: ago(HOUR) },
        ],
      },
      [],
    ],
    ['a webhook was disabled', { webhooks: [{ ...webhook, status: 'disabled' }] }, ['webhook_disabled']],
    [
      'something is queued for long',
      { webhooks: [{ ...webhook, oldest: ago(90 * 60_000) }] },
      ['deliveries_late'],
    ],
    [
      'and all of it fails: one alert tells of it',
      { webhooks: [{ ...webhook, oldest: ago(2 * HOUR), failingSince: ago(2 * HOUR) }] },
      ['webhook_failing'],
    ],
    ['events wait although a worker runs', { unclaimedSince: ago(10 * 60_000) }, ['deliveries_late']],
    ['for a shorter time', { unclaimedSince: ago(10 * 60_000 - 1) }, []],
    ['and no worker runs', { unclaimedSince: ago(30_000), isServed: false }, ['deliveries_late']],
    ['no worker runs, and nothing waits', { isServed: false }, []],
    ['a key expires in 14 days', { keys: [{ ...key, expiresAt: ago(-14 * DAY) }] }, ['key_expiring']],
    ['in more', { keys: [{ ...key, expiresAt: ago(-14 * DAY - 1) }] }, []],
    [
      'of a key that lives a week, before its half',
      { keys: [{ ...key, createdAt: ago(2 * DAY), expiresAt: ago(-5 * DAY) }] },
      [],
    ],
    ['after it', { keys: [{ ...key, createdAt: ago(4 * DAY), expiresAt: ago(-3 * DAY) }] }, ['key_expiring']],
    ['it was rotated', { keys: [{ ...key, expiresAt: ago(-DAY), isReplaced: true }] }, []],
    [
      'its partner is not verified',
      { keys: [{ ...key, isPartnerVerified: false, expiresAt: ago(-DAY) }] },
      [],
    ],
    ['a key is not used for 90 days', { keys: [{ ...key, lastUsedAt: ago(90 * DAY) }] }, ['key_unused']],
    ['or never was', { keys: [{ ...key, lastUsedAt: null }] }, ['key_unused']],
    [
      'a partner waits for seven days',
      { partners: [{ id: 'prt_1', name: 'P', status: 'applied', since: ago(7 * DAY) }] },
      ['partner_waiting'],
    ],
    [
      'a practice is cut off for half an hour',
      { groups: [{ id: 'g', name: 'G', isUnhealthy: true, changedAt: ago(HOUR / 2) }] },
      ['ehr_down'],
    ],
    [
      'changes wait for an hour',
      { pending: [{ id: 'g', name: 'G', since: ago(HOUR), count: 2 }] },
      ['changes_pending'],
    ],
    [
      'for less, or none does',
      {
        pending: [
          { id: 'g', name: 'G', since: ago(HOUR - 1), count: 2 },
          { id: 'h', name: 'H', since: null, count: null },
        ],
      },
      [],
    ],
    ['a practice has stopped a partner', { stops: [stop] }, ['partner_stopped']],
    ['and lets it go on', { stops: [{ ...stop, isLifted: true }] }, []],
    ['an agreement has ended, and keys work under it', { agreements: [agreement] }, ['agreement_ended']],
    ['it ends in 14 days', { agreements: [{ ...agreement, endsAt: ago(-14 * DAY) }] }, ['agreement_ended']],
    [
      'later, never, without keys, or of a partner who is not verified',
      {
        agreements: [
          { ...agreement, endsAt: ago(-14 * DAY - 1) },
          { ...agreement, id: 'agr_2', endsAt: null },
          { ...agreement, id: 'agr_3', keys: 0 },
          { ...agreement, id: 'agr_4', isPartnerVerified: false },
        ],
      },
      [],
    ],
  ])('%s', (_name, facts, expected) => {
    expect(begun(facts)).toEqual(expected);
  });

  it.each([
    [99, 0, false],
    [100, 0, true],
    [100, 33, true],
    [100, 34, false],
    [1_000, 400, false],
  ])('%i refusals where %i are usual: %s', (count, usual, expected) => {
    const quiet = { count: 0, usual: 0 };
    const fact = { partnerId: 'prt_1', name: 'P' };
    const found = expected ? ['refusals_rising'] : [];
    expect(begun({ refusals: [{ ...fact, now: { count, usual }, before: quiet }] })).toEqual(found);
    // It does not end when the clock strikes, but an hour later.
    const open = [opened('refusals_rising', 'prt_1')];
    const { end } = decide({ refusals: [{ ...fact, now: quiet, before: { count, usual } }] }, open);
    expect(end).toHaveLength(expected ? 0 : 1);
  });
});

describe('when it ends', () => {
  it.each<[string, Partial<WebhookFact> | undefined, string]>([
    ['a delivery has arrived', {}, 'recovered'],
    ['the webhook was disabled', { status: 'disabled', failingSince: ago(HOUR) }, 'disabled'],
    ['it was paused', { status: 'paused', failingSince: ago(HOUR) }, 'paused'],
    ['it was deleted', { isDeleted: true }, 'gone'],
    ['it is not there any more', undefined, 'gone'],
  ])('%s', (_name, fact, because) => {
    const open = [opened('webhook_failing', 'wh_1')];
    const { end } = decide({ webhooks: fact ? [{ ...webhook, ...fact }] : [] }, open);
    expect(end).toEqual([{ id: 'alt_webhook_failing', because }]);
  });

  it.each<[string, Partial<AlertFacts>, OpenAlert, string]>([
    [
      'changes were answered',
      { pending: [{ id: 'g', name: 'G', since: null, count: null }] },
      opened('changes_pending', 'g'),
      'recovered',
    ],
    ['the practice group was removed', {}, opened('changes_pending', 'g'), 'gone'],
    [
      'a stop was lifted',
      { stops: [{ ...stop, isLifted: true }] },
      opened('partner_stopped', 'stp_1'),
      'lifted',
    ],
    [
      'an agreement was prolonged',
      { agreements: [{ ...agreement, endsAt: ago(-15 * DAY) }] },
      opened('agreement_ended', 'agr_1'),
      'settled',
    ],
    [
      'its keys are over',
      { agreements: [{ ...agreement, keys: 0 }] },
      opened('agreement_ended', 'agr_1'),
      'settled',
    ],
  ])('%s', (_name, facts, open, because) => {
    expect(decide(facts, [open]).end).toEqual([{ id: open.id, because }]);
  });

  it('one that some deliveries reach stays late while it fails now and then', () => {
    const open = [opened('deliveries_late', 'wh_1')];
    const late = { ...webhook, oldest: ago(2 * HOUR) };
    expect(decide({ webhooks: [{ ...late, failingSince: ago(60_000) }] }, open).end).toEqual([]);
    expect(decide({ webhooks: [{ ...late, failingSince: ago(HOUR) }] }, open).end).toHaveLength(1);
  });

  it('whatever is found: nothing begins that is open, nothing ends that stands, and looking again changes nothing', () => {
    const moment = fc.option(
      fc.integer({ min: -30, max: 200 }).map((hours) => ago(hours * HOUR)),
      { nil: null },
    );
    const webhooks = fc.uniqueArray(
      fc.record({
        id: fc.constantFrom('wh_1', 'wh_2', 'wh_3'),
        status: fc.constantFrom('active' as const, 'paused' as const, 'disabled' as const),
        isDeleted: fc.boolean(),
        isWithheld: fc.boolean(),
        failingSince: moment,
        oldest: moment,
      }),
      { selector: ({ id }) => id },
    );
    const keys = fc.uniqueArray(
      fc.record({
        id: fc.constantFrom('key_1', 'key_2'),
        expiresAt: moment,
        lastUsedAt: moment,
        isRevoked: fc.boolean(),
        isReplaced: fc.boolean(),
        isPartnerVerified: fc.boolean(),
      }),
      { selector: ({ id }) => id },
    );
    const before = fc.uniqueArray(
      fc.record({
        kind: fc.constantFrom(...alertKindNames.filter((kind) => kind !== 'key_leaked')),
        subjectId: fc.constantFrom('wh_1', 'wh_2', 'wh_3', 'key_1', 'key_2', 'service'),
      }),
      { selector: ({ kind, subjectId }) => `${kind} ${subjectId}` },
    );
    fc.assert(
      fc.property(webhooks, keys, before, moment, (some, others, had, unclaimedSince) => {
        const facts = {
          ...nothing,
          webhooks: some.map((one) => ({ ...webhook, ...one })),
          keys: others.map((one) => ({ ...key, ...one })),
          unclaimedSince,
        };
        const open = had.map((one, at) => ({ ...one, id: `alt_${at}` }));
        const { begin, end } = decideAlerts(facts, open, NOW, thresholds);
        const names = (alerts: { kind: string; subjectId: string }[]) =>
          alerts.map(({ kind, subjectId }) => `${kind} ${subjectId}`);
        const asOpen = (alert: NewAlert, at: number): OpenAlert => ({
          id: `new_${at}`,
          kind: alert.kind,
          subjectId: alert.subject.id,
        });
        const left = open.filter(({ id }) => !end.some((one) => one.id === id));
        const after = [...left, ...begin.map(asOpen)];
        expect(new Set(names(after)).size).toBe(after.length);
        expect(decideAlerts(facts, after, NOW, thresholds)).toEqual({ begin: [], end: [] });
      }),
    );
  });
});

const notice = (
  at: number,
  more: Partial<Notice['alert']> = {},
  moment: Notice['moment'] = 'began',
): Notice => ({
  moment,
  alert: {
    id: `alt_${at}`,
    kind: 'webhook_failing',
    subject: { type: 'webhook', id: `wh_${at}`, name: 'partner.example' },
    practice_group_id: 'group-1',
    partner_name: 'Acme Booking',
    group_name: 'Abbey Surgery',
    details: { ...noDetails, since: ago(HOUR), count: 3 },
    began_at: ago(0),
    ended_at: moment === 'ended' ? ago(0) : null,
    ended_because: moment === 'ended' ? 'recovered' : null,
    ...more,
  },
});
const surroundings = {
  reader: 'partner' as const,
  environment: 'production',
  docsUrl: 'https://api.porter.example/docs',
  support: 'help@porter.example',
};

describe('a message', () => {
  it('names a few of many, and says how many more there are', () => {
    const { subject, text, html } = compose(
      Array.from({ length: 500 }, (_, at) => notice(at)),
      surroundings,
    );
    expect(subject).toBe('[Porter production] A webhook has been failing for an hour (500)');
    expect(text.match(/wh_\d+/g)).toHaveLength(10);
    expect(text).toContain('- and 490 more.');
    expect(text).toContain('What to do: Read the diagnosis');
    expect(html).toContain('<li>and 490 more.</li>');
    expect(text).toContain('help@porter.example');
    expect(text.length).toBeLessThan(4_000);
  });

  it('counts one as one', () => {
    const details = { ...noDetails, since: ago(HOUR), count: 1 };
    const { text } = compose([notice(1, { details }), notice(2, { kind: 'changes_pending', details })], {
      ...surroundings,
      reader: 'operator',
    });
    expect(text).toContain('; 1 attempt has failed.');
    expect(text).toContain(
      `has said of 1 change, of ${ago(HOUR)}, neither that it was applied nor that it was `,
    );
  });

  it('tells of what came and went as over, once', () => {
    const { subject, text } = compose([notice(1), notice(1, {}, 'ended')], surroundings);
    expect(subject).toBe('[Porter production] A webhook that failed is well again');
    expect(text.match(/wh_1/g)).toHaveLength(1);
  });

  it('begins with what is urgent, and names it in the subject', () => {
    const { subject, text } = compose(
      [
        notice(1, {}, 'ended'),
        notice(2, { kind: 'changes_pending' }),
        notice(3, { kind: 'partner_stopped' }),
      ],
      { ...surroundings, reader: 'operator' },
    );
    expect(subject).toBe('[Porter production] A practice has stopped a partner, and more');
    const places = ['stopped a partner', 'not reached the practice software', 'is well again'].map((words) =>
      text.indexOf(words),
    );
    expect(places.every((place, at) => place > (places[at - 1] ?? -1))).toBe(true);
  });

  it('tells an operator of whom and where, with the way there; a partner knows whose it is', () => {
    const stopped = notice(2, { kind: 'partner_stopped' });
    const textFor = (reader: 'partner' | 'operator') =>
      compose([notice(1), stopped], { ...surroundings, reader }).text;
    expect(textFor('operator')).toContain(
      'wh_1 (partner.example) of Acme Booking for Abbey Surgery (group-1)',
    );
    expect(textFor('operator')).toContain('was stopped by Abbey Surgery (group-1), at');
    expect(textFor('operator')).toContain('https://api.porter.example/console/alerts');
    expect(textFor('partner')).toContain('wh_1 (partner.example) for group-1 has');
    expect(textFor('partner')).not.toMatch(/Acme|Abbey|console/);
  });

  it('has a line and a remedy for every kind, for whoever reads it', () => {
    for (const kind of alertKindNames)
      for (const reader of ['partner', 'operator'] as const) {
        const { text } = compose([notice(1, { kind })], { ...surroundings, reader });
        expect(text).toMatch(/^\S.+\n\n- .+wh_1.+\n\nWhat to do: .+\n/);
        expect(text).not.toMatch(/undefined|\[object/);
      }
  });

  it('stays one line for each alert, without markup, whatever names hold', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 300 }),
        fc.constantFrom(...alertKindNames),
        (name, kind) => {
          const hostile = `${name}\r\nBcc: x@evil.example\r\n\r\n<img src=x>\u202e`;
          const one = notice(1, { kind, subject: { type: 'key', id: 'id_1', name: hostile } });
          one.alert.details.reason = hostile;
          const { subject, text, html } = compose([one], surroundings);
          expect(subject).not.toMatch(/[\r\n]/);
          expect(text.split('\n')).toHaveLength(9);
          expect(html).not.toContain('<img');
          expect(text + html).not.toContain('\u202e');
        },
      ),
    );
  });

  it('a name is cut where it is long', () => {
    expect([...plain('😀'.repeat(200))]).toHaveLength(80);
  });
});

it('what everybody must know is left out by nobody', () => {
  expect(wants(null, 'key_expiring')).toBe(true);
  expect(wants([], 'key_expiring')).toBe(false);
  expect(wants(['key_expiring'], 'key_expiring')).toBe(true);
  expect(wants([], 'key_leaked')).toBe(true);
});

it('a message is tried for two days, one that is refused for good once', () => {
  const delays = Array.from({ length: 8 }, (_, at) => retryAfter(at + 1, false));
  expect(delays.map((ms) => ms && ms / 60_000)).toEqual([1, 5, 15, 60, 240, 720, 1_440, undefined]);
  expect(retryAfter(1, true)).toBeUndefined();
});
