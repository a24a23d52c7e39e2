import type { Read } from '../../contract/endpoint.ts';
import {
  HITS_MAX,
  type SearchHit,
  search as searchEndpoint,
  searchKinds,
} from '../../contract/operator/oversight/search.ts';
import { type Transaction, transact } from '../../store/database.ts';
import { type Found, findByText } from '../../store/oversight/search.ts';
import { findChange } from '../../store/practices/changes.ts';
import { operation } from '../app.ts';
import { deliveryOf } from '../events/deliveries.ts';

export const search = operation(searchEndpoint, async (app, { principal, query }) => {
  // Whoever asks right after the refusal finds it.
  await app.refusals.flush();
  const text = query.q.trim();
  const found = await transact(app.db, principal, async (tx) => [
    ...(await findByText(tx, text, HITS_MAX + 1)),
    ...(await findByTellingId(tx, text)),
  ]);
  const byKind = Map.groupBy(withoutRepeats(found), ({ kind }) => kind);
  const data = searchKinds.flatMap((kind) => (byKind.get(kind) ?? []).slice(0, HITS_MAX).map(presentHit));
  const more = searchKinds.filter((kind) => (byKind.get(kind)?.length ?? 0) > HITS_MAX);
  return { body: { data, count: data.length, more }, read: [SETTINGS, ...data.flatMap(readOf)] };
});

/** What says in its ID where it is. */
async function findByTellingId(tx: Transaction, text: string): Promise<Found[]> {
  const [delivery, change] = await Promise.all([
    text.startsWith('dlv_') ? deliveryOf(tx, text) : undefined,
    text.startsWith('chg_') ? findChange(tx, text) : undefined,
  ]);
  const whole = { matched: 'id', exact: true } as const;
  return [
    ...(delivery
      ? [
          {
            ...whole,
            kind: 'delivery' as const,
            id: text,
            title: delivery.delivery.event,
            subtitle: `${delivery.delivery.status} · ${delivery.delivery.webhook_id}`,
            partner_id: delivery.delivery.partner_id,
            practice_group_id: delivery.delivery.practice_group_id,
          },
        ]
      : []),
    ...(change
      ? [
          {
            ...whole,
            kind: 'change' as const,
            id: text,
            title: change.object_id,
            subtitle: change.state,
            partner_id: change.partner_id,
            practice_group_id: change.practice_group_id,
          },
        ]
      : []),
  ];
}

function withoutRepeats(found: readonly Found[]): Found[] {
  const seen = new Map<string, Found>();
  for (const one of found) {
    const name = `${one.kind} ${one.practice_group_id} ${one.id}`;
    if (!seen.has(name)) seen.set(name, one);
  }
  return [...seen.values()];
}

function presentHit(found: Found): SearchHit {
  return { ...found, open: openedBy(found) };
}

/** A contact and an agreement are shown with their partner; a contact of the operator stands by itself. */
function openedBy({ kind, id, partner_id }: Found): SearchHit['open'] {
  const isOfPartner = partner_id !== null && (kind === 'contact' || kind === 'agreement');
  return isOfPartner ? { kind: 'partner', id: partner_id } : { kind, id };
}

const SETTINGS: Read = { object: 'search', isOfSettings: true };

/** Whoever finds an event, or what belongs to one, is told of it. */
function readOf({ kind, id, practice_group_id }: SearchHit): Read[] {
  if (kind === 'event') return [{ practiceGroupId: practice_group_id ?? undefined, eventId: id }];
  if (kind !== 'delivery' && kind !== 'write_to_record_job') return [];
  return [{ practiceGroupId: practice_group_id ?? undefined, object: kind, objectId: id }];
}
