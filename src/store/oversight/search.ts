import type { SearchHit, SearchKind } from '../../contract/operator/oversight/search.ts';
import type { Transaction } from '../database.ts';

/** Of one kind at most one more than is shown, which tells that there is more. */
export interface Found {
  kind: SearchKind;
  id: string;
  title: string;
  subtitle: string | null;
  matched: SearchHit['matched'];
  exact: boolean;
  partner_id: string | null;
  practice_group_id: string | null;
}

const COLUMNS = `kind, id, title, subtitle, matched, exact, partner_id, practice_group_id`;

const partnerName = (id: string) => `(SELECT name FROM partners WHERE partners.id = ${id})`;
const groupName = (id: string) => `(SELECT name FROM practice_groups g WHERE g.id = ${id})`;
const time = (moment: string) => `to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const line = (...parts: string[]) => `concat_ws(' · ', ${parts.join(', ')})`;

interface Source {
  kind: SearchKind;
  from: string;
  id: string;
  title: string;
  subtitle: string;
  partner?: string;
  group?: string;
}

const partners: Source = {
  kind: 'partner',
  from: 'partners p',
  id: 'p.id',
  title: 'p.name',
  subtitle: 'p.status',
  partner: 'p.id',
};
const groups: Source = {
  kind: 'practice_group',
  from: 'practice_groups g',
  id: 'g.id',
  title: 'g.name',
  subtitle: 'g.ods_code',
  group: 'g.id',
};
const networks: Source = {
  kind: 'network',
  from: 'networks n',
  id: 'n.id',
  title: 'n.name',
  subtitle: `(SELECT count(*) FROM network_members m WHERE m.network_id = n.id) || ' practice groups'`,
};
const keys: Source = {
  kind: 'key',
  from: 'api_keys k',
  id: 'k.id',
  title: `coalesce(k.label, k.prefix || '…' || k.last_four)`,
  subtitle: line(
    partnerName('k.partner_id'),
    groupName('k.practice_group_id'),
    `k.prefix || '…' || k.last_four`,
    `CASE WHEN k.revoked_at IS NOT NULL THEN 'revoked' END`,
  ),
  partner: 'k.partner_id',
  group: 'k.practice_group_id',
};
const webhooks: Source = {
  kind: 'webhook',
  from: `(SELECT * FROM webhooks WHERE deleted_at IS NULL AND audience <> 'operator') AS w`,
  id: 'w.id',
  title: 'w.url',
  subtitle: line(partnerName('w.partner_id'), 'w.status'),
  partner: 'w.partner_id',
  group: 'w.practice_group_id',
};
const subscriptions: Source = {
  kind: 'subscription',
  from: `(SELECT * FROM webhooks WHERE deleted_at IS NULL AND audience = 'operator') AS w`,
  id: 'w.id',
  title: 'w.url',
  subtitle: 'w.status',
};
/** The first contact of a partner is at the partner itself, and goes by its ID here. */
const contacts: Source = {
  kind: 'contact',
  from: `(SELECT id, id AS partner_id, contact_email AS email, contact_name AS name FROM partners
          UNION ALL SELECT id, partner_id, email, name FROM contacts) AS c`,
  id: 'c.id',
  title: 'coalesce(c.name, c.email)',
  subtitle: line('c.email', `coalesce(${partnerName('c.partner_id')}, 'operator')`),
  partner: 'c.partner_id',
};
const ofExactId: Source[] = [
  partners,
  groups,
  networks,
  keys,
  webhooks,
  subscriptions,
  { ...contacts, from: '(SELECT id, partner_id, email, name FROM contacts) AS c' },
  {
    kind: 'event',
    from: `(SELECT * FROM events WHERE practice_group_id <> '') AS e`,
    id: 'e.id',
    title: 'e.event',
    subtitle: line(groupName('e.practice_group_id'), time('e.accepted_at')),
    group: 'e.practice_group_id',
  },
  {
    kind: 'submission_type',
    from: 'submission_types s',
    id: 's.id',
    title: 's.title',
    subtitle: groupName('s.practice_group_id'),
    group: 's.practice_group_id',
  },
  {
    kind: 'write_to_record_job',
    from: 'write_to_record_jobs j',
    id: 'j.id',
    title: `j.resource || ' ' || j.status`,
    subtitle: groupName('j.practice_group_id'),
    group: 'j.practice_group_id',
  },
  {
    kind: 'agreement',
    from: 'agreements a',
    id: 'a.id',
    title: `coalesce(a.version, a.id)`,
    subtitle: line(partnerName('a.partner_id'), time('a.signed_at')),
    partner: 'a.partner_id',
  },
  {
    kind: 'alert',
    from: 'alerts l',
    id: 'l.id',
    title: 'l.kind',
    subtitle: line(`l.details ->> 'name'`, `CASE WHEN l.ended_at IS NULL THEN 'open' ELSE 'ended' END`),
    partner: 'l.partner_id',
    group: 'l.practice_group_id',
  },
  { kind: 'operator', from: 'operators o', id: 'o.id', title: 'o.name', subtitle: 'o.role' },
];

const select = (source: Source, matched: string, exact: string) =>
  `SELECT '${source.kind}' AS kind, ${source.id} AS id, ${source.title} AS title, ${source.subtitle} AS subtitle, ${matched} AS matched,
          ${exact} AS exact, ${source.partner ?? 'NULL'} AS partner_id, ${source.group ?? 'NULL'} AS practice_group_id
     FROM ${source.from}`;

/** A branch each, which an index answers. */
const BY_ID = ofExactId
  .map((source) => `(${select(source, "'id'", 'true')} WHERE ${source.id} = $1 LIMIT $2)`)
  .join(' UNION ALL ');

const BY_ENDING = `${select(keys, "'last_four'", 'true')} WHERE k.last_four = $1 ORDER BY k.revoked_at IS NOT NULL, k.id DESC LIMIT $2`;

/** What a text is looked for in, with what that is called. The whole first, then what begins with it, then in the order of names. */
const byPart = (source: Source, ...places: readonly (readonly [string, SearchHit['matched']])[]) => {
  const holds = (place: string) => `position(lower($1) IN lower(${place})) > 0`;
  const equals = places.map(([place]) => `coalesce(lower(${place}) = lower($1), false)`).join(' OR ');
  const begins = places
    .map(([place]) => `coalesce(starts_with(lower(${place}), lower($1)), false)`)
    .join(' OR ');
  const matched = `CASE ${places.map(([place, name]) => `WHEN ${holds(place)} THEN '${name}'`).join(' ')} END`;
  return `${select(source, matched, equals)} WHERE ${places.map(([place]) => holds(place)).join(' OR ')}
     ORDER BY NOT (${equals}), NOT (${begins}), lower(${source.title}), ${source.id} LIMIT $2`;
};

const BY_PART = [
  byPart(partners, ['p.name', 'name']),
  byPart(groups, ['g.name', 'name'], ['g.ods_code', 'ods_code']),
  byPart(networks, ['n.name', 'name']),
  byPart(webhooks, ['w.url', 'url']),
  byPart(subscriptions, ['w.url', 'url']),
  byPart(contacts, ['c.email', 'email'], ['c.name', 'name']),
]
  .map((text) => `(${text})`)
  .join(' UNION ALL ');

const BY_REQUEST = `SELECT 'refused_request' AS kind, r.request_id AS id, r.method || ' ' || r.path AS title,
          ${line('r.status::text', partnerName('r.partner_id'), time('r.at'))} AS subtitle, 'id' AS matched, true AS exact,
          r.partner_id, r.practice_group_id
     FROM refused_requests r WHERE r.request_id = $1 ORDER BY r.no DESC LIMIT 1`;

/** An ID is the whole text; anything else may be a part of it. What is found both ways is told twice. */
export async function findByText(tx: Transaction, text: string, limit: number): Promise<Found[]> {
  const rows = await Promise.all([
    tx.query<Found>(BY_ID, [text, limit]),
    text.length === ENDING_LENGTH ? tx.query<Found>(BY_ENDING, [text, limit]) : [],
    tx.query<Found>(`SELECT ${COLUMNS} FROM (${BY_REQUEST}) AS r`, [text]),
    tx.query<Found>(BY_PART, [text, limit]),
  ]);
  return rows.flat();
}

const ENDING_LENGTH = 4;
