import { expect, vi } from 'vitest';
import type { Scope } from '../../src/contract/access.ts';
import { scopeNames } from '../../src/contract/access.ts';
import { afterwards } from './afterwards.ts';
import { PATIENCE } from './console-world.ts';
import { type Partner, partnerWith, publish } from './post.ts';
import { type Behaviour, ok, startReceiver, status } from './receiver.ts';
import type { Harness, Loose } from './service.ts';
import { superuser } from './superuser.ts';

/** A deployment in the middle of a bad morning, with something on every screen of the console. */

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const PARTNERS = [
  'Acme Booking',
  'Larkspur Health',
  'Beacon Triage',
  'Corner Pharmacy Group',
  'Northgate Analytics and Population Health Intelligence Partnership',
  'Fen Letters',
  'Quill Dictation',
  'Tamar Scheduling',
  'Orchard Repeat Prescriptions',
  'Wren Messaging',
];

const PLACES = ['Abbey', 'Bridge', 'Castle', 'Downs', 'Elm', 'Ferry', 'Grange', 'Harbour', 'Ivy', 'Kiln'];
const KINDS = ['Surgery', 'Medical Centre', 'Family Practice'];
const PRACTICES = KINDS.flatMap((kind) => PLACES.map((place) => `${place} ${kind}`));

/** How the receivers of the partners behave, one after the other. */
const receivers = (text: Names['text']): Behaviour[] => [
  status(503, {}, text('upstream booking-api timed out')),
  ok,
  status(503, {}, text('no healthy upstream')),
  'refuse',
  ok,
  status(410),
  status(401, { 'content-type': 'application/json' }, '{"error":"token expired"}'),
  ok,
  ok,
];

export interface BusyWorld {
  partners: Partner[];
  practices: string[];
  networks: string[];
  /** One of each, for the screens of one thing. */
  paths: string[];
}

interface Names {
  /** What somebody wrote into a field: of a partner, a practice, a receiver, an operator. */
  text: (usual: string) => string;
  /** The same for a field that is not a sentence. */
  word?: (usual: string) => string;
}

export async function busyWorld(
  house: Harness,
  { text, word = text }: Names = { text: (usual) => usual },
): Promise<BusyWorld> {
  const { operator } = house;
  // What the browser calls now is now for the service, too, when all of this is over.
  house.clock.advance(Date.now() - DAY / 4 - house.clock.now());

  const practices: string[] = [];
  for (const [at, name] of PRACTICES.entries()) {
    const id = `practice-${String(at + 1).padStart(2, '0')}`;
    practices.push(id);
    await operator('POST', '/practice-groups', {
      id,
      name: text(name),
      ods_code: `Y${String(at + 100).padStart(5, '0')}`,
      address: { line_1: text(`${at + 1} High Street`), town: text('Exampleton'), postcode: 'EX1 1AA' },
    });
  }
  await furnish(house, practices[0] as string, text);
  await furnish(house, practices[1] as string, text);

  const partners: Partner[] = [];
  for (const [at, name] of PARTNERS.entries()) {
    const made = await operator('POST', '/partners', {
      name: text(name),
      contact_email: `api@partner-${at + 1}.example`,
    });
    if (at === 9) continue;
    await operator('POST', `/partners/${made.id}/sign-agreement`, {
      version: word('2026-1'),
      signatory: text('Ada Marsh, Chief Executive'),
      sla: { availability_percent: 99.9, latency_ms: { p95: 250 } },
    });
    if (at === 8) continue;
    await operator('POST', `/partners/${made.id}/verify`);
    const issued = await operator('POST', '/keys', {
      partner_id: made.id,
      practice_group_id: practices[at % 3],
      label: word(`${name.split(' ')[0]} live`),
      scopes: at === 7 ? (['practice-groups:read'] satisfies Scope[]) : scopeNames,
      ...(at === 1 && { expires_at: new Date(house.clock.now() + 5 * DAY).toISOString() }),
    });
    partners.push(
      partnerWith(house, practices[at % 3] as string, {
        partnerId: made.id,
        key: issued.key,
        keyId: issued.id,
      }),
    );
  }
  const [acme, larkspur] = partners as [Partner, Partner];
  await operator('POST', `/partners/${acme.partnerId}/contacts`, {
    email: 'on-call@partner-1.example',
    name: text('Grace Okafor, on call'),
    alert_kinds: ['webhook_failing'],
  });
  await operator('POST', `/partners/${acme.partnerId}/agreements`, {
    version: word('2026-2'),
    signatory: text('Ada Marsh, Chief Executive'),
    signed_at: new Date(house.clock.now() - DAY).toISOString(),
    document_url: 'https://contracts.example/acme/2026-2.pdf',
    rate_limit_per_minute: 600,
  });
  const networks: string[] = [];
  for (const [at, [name, from, to]] of (
    [
      ['Exampleton Primary Care Network', 0, 9],
      ['Vale', 8, 16],
      ['Coast and Moors Out-of-Hours Collaborative', 16, 26],
    ] as const
  ).entries())
    networks.push(
      (
        await operator('POST', '/networks', {
          name: text(name),
          practice_group_ids: practices.slice(from, to),
          ...(at === 1 && { scopes: ['events:read'], partner_ids: [acme.partnerId, larkspur.partnerId] }),
        })
      ).id,
    );

  const webhooks: string[] = [];
  for (const [at, partner] of partners.entries()) {
    if (at === 7) continue;
    const receiver = await startReceiver({ behaviour: receivers(text)[at] ?? ok });
    afterwards(() => receiver.close());
    const { id } = await partner.call('POST', '/v1/webhooks', {
      url: `${receiver.url}?to=${encodeURIComponent(word('bookings/live'))}`,
      description: text('Bookings, live'),
    });
    webhooks.push(id);
  }
  const [failing = '', fine = '', , , paused = ''] = webhooks;

  await refuse(house, partners, word);
  for (const title of ['Repeat prescriptions', 'Repeat medicines', 'Medicines again'])
    await acme.call('PATCH', '/v1/care-nav/submission-types/repeat-prescription', { title: text(title) });
  const changes = await changesOf(house, 3);
  await operator('POST', `/changes/${changes[0]}/rejected`, { reason: text('The code is not in use here.') });

  await operator('PUT', `/practice-groups/${practices[1]}/ehr-health`, { status: 'unhealthy' });
  for (const sort of ['apt', 'apt', 'apt']) {
    await publish(house, practices[0] as string, [
      'appointment.confirmed',
      word(`${sort}-${house.clock.now()}`),
    ]);
    await publish(house, practices[1] as string, 'appointment.cancelled');
    await publish(house, practices[2] as string, 'appointment.confirmed');
    house.clock.advance(20 * MINUTE);
  }
  await vi.waitFor(async () => {
    const { data } = await operator('GET', '/webhooks?page_size=100');
    const failing = data.filter(({ health }: Loose) => health.failing_since !== null);
    expect(failing.length).toBeGreaterThanOrEqual(4);
    expect(data.some(({ status }: Loose) => status === 'disabled')).toBe(true);
  }, PATIENCE);
  await operator('PATCH', `/webhooks/${paused}`, {
    status: 'paused',
    reason: text('We agreed on the phone to wait.'),
  });
  // As it is left after days of failures.
  const db = await superuser(house.databaseUrl);
  await db.query(
    `UPDATE deliveries SET state = 'failed' WHERE state = 'delivered' AND webhook_no = (SELECT no FROM webhooks WHERE id = $1)`,
    [fine],
  );

  const subscription = await operator('POST', '/subscriptions', {
    url: 'https://practice-software.example/porter',
    topics: ['changes', 'alerts'],
    description: text('The practice software of the vale'),
  });
  for (const role of ['support', 'viewer'])
    await operator('POST', '/operators', { name: text(`Sam of ${role}`), role, label: word('desk') });
  house.clock.advance(DAY / 4 - 60 * MINUTE);
  await house.service.alerts.look();

  const first = async (list: string) => (await operator('GET', list)).data[0];
  const event = await first('/events');
  const delivery = await first(`/deliveries?webhook_id=${failing}`);
  const refused = await first('/requests');
  const alert = await first('/alerts');
  const partner = `/partners/${acme.partnerId}`;
  const practice = `/practices/${practices[0]}`;
  const paths = [
    '/',
    '/partners',
    partner,
    `${partner}?tab=agreements`,
    `${partner}?tab=contacts`,
    `${partner}/issue`,
    `${partner}/issue-many`,
    '/keys',
    `/keys/${acme.keyId}`,
    '/practices',
    practice,
    `${practice}?tab=reach`,
    `${practice}?tab=directory`,
    `${practice}?tab=told`,
    '/networks',
    `/networks?partner=${acme.partnerId}`,
    '/networks/new',
    `/networks/${networks[0]}`,
    '/webhooks',
    ...[failing, fine, paused, webhooks[5]].map((id) => `/webhooks/${id}`),
    `/deliveries/${delivery.id}`,
    '/events',
    `/events/${event.id}`,
    '/refused',
    `/refused/${refused.request_id}`,
    '/changes',
    `/changes/${changes[0]}`,
    '/alerts',
    `/alerts/${alert.id}`,
    '/subscriptions',
    `/subscriptions/${subscription.id}`,
    '/audit',
    '/audit/12',
    '/settings',
    ...['approvals', 'sessions', 'nodes', 'in-force', 'signing'].map((tab) => `/settings?tab=${tab}`),
  ];
  return { partners, practices, networks, paths };
}

async function furnish({ operator }: Harness, id: string, text: Names['text']): Promise<void> {
  const practice = `/practice-groups/${id}`;
  await operator('PUT', `${practice}/forms/repeat`, { title: text('Repeat prescription request') });
  await operator('PUT', `${practice}/assignees/Admin/ann`, { name: text('Ann Barlow') });
  await operator('PUT', `${practice}/assignees/AdminTeam/desk`, { name: text('Front desk') });
  for (const [type, title, daily_limit] of [
    ['repeat-prescription', 'Repeat prescription', 40],
    ['sick-note', 'Sick note', 2],
    ['travel', 'Travel vaccinations and advice', null],
  ] as const) {
    await operator('POST', `${practice}/submission-types`, {
      id: type,
      pathway_id: `pathway-${type}`,
      title: text(title),
      daily_limit,
    });
    for (let sent = 0; sent < 2; sent++)
      await operator('POST', `${practice}/form-submissions`, { submission_type_id: type });
  }
}

/** Calls that are refused, each by another check. */
async function refuse({ send, operator }: Harness, partners: Partner[], word: (usual: string) => string) {
  const [acme, larkspur, beacon] = partners as [Partner, Partner, Partner];
  const limited = partners[7] as Partner;
  const { groupId: group } = acme;
  const path = `/v1/care-nav/submission-types/${encodeURIComponent(word('sick-note'))}`;
  await send('PATCH', path, { key: limited.key, group, body: { title: 'x' } });
  await send('GET', '/v1/practice-groups', { key: larkspur.key, group: 'practice-30' });
  await send('PATCH', '/v1/care-nav/submission-types/sick-note', {
    key: acme.key,
    group,
    body: { daily_limit: -1 },
  });
  const old = await operator('POST', '/keys', {
    partner_id: beacon.partnerId,
    practice_group_id: group,
    label: word('Beacon, before the move'),
    scopes: scopeNames,
  });
  await operator('POST', `/keys/${old.id}/revoke`);
  await send('GET', '/v1/practice-groups', { key: old.key, group });
}

async function changesOf({ operator }: Harness, count: number): Promise<string[]> {
  return vi.waitFor(async () => {
    const { data } = await operator('GET', '/changes?page_size=100');
    expect(data.length).toBeGreaterThanOrEqual(count);
    return data.map(({ id }: Loose) => id);
  }, PATIENCE);
}
