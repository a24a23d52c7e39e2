import type { Erasure } from '../../contract/operator/oversight/erasures.ts';

/** An object to be erased: what events and jobs name it by. */
export interface Erasable {
  object: string;
  objectId: string;
}

/** Subjects of the audit whose IDs are those of objects in practices. */
const OBJECT_OF_SUBJECT: Record<string, string> = {
  form_submission: 'FormSubmission',
  write_to_record_job: 'WriteToRecordEntry',
};
export const erasableSubjects = Object.keys(OBJECT_OF_SUBJECT);

interface AuditText {
  subject: { type: string; id: string };
  before: unknown;
  after: unknown;
  [field: string]: unknown;
}

/**
 * The text of an audit entry with the erasure's ID in the place of the object's; undefined when the entry is not about it. The
 * request's ID and the salt go as well: without them nobody can find the identifier by trying which one fits the hash.
 */
export function redactAuditText(text: string, target: Erasable, pseudonym: string): string | undefined {
  const body = JSON.parse(text) as AuditText;
  const isSubject =
    OBJECT_OF_SUBJECT[body.subject.type] === target.object && body.subject.id === target.objectId;
  if (!isSubject && !names(body.before, target) && !names(body.after, target)) return undefined;
  const replace = (value: unknown) => replaced(value, target.objectId, pseudonym);
  const { salt: _salt, ...kept } = body;
  return JSON.stringify({
    ...kept,
    subject: isSubject ? { ...body.subject, id: pseudonym } : body.subject,
    request_id: null,
    before: replace(body.before),
    after: replace(body.after),
    erased_by: pseudonym,
  });
}

/** A job names what it writes by type and ID. People do not spell types alike. */
function names(state: unknown, { object, objectId }: Erasable): boolean {
  if (typeof state !== 'object' || state === null) return false;
  const { resource, resource_id } = state as { resource?: unknown; resource_id?: unknown };
  return resource_id === objectId && String(resource).toLowerCase() === object.toLowerCase();
}

function replaced(value: unknown, id: string, pseudonym: string): unknown {
  if (typeof value !== 'object' || value === null) return value === id ? pseudonym : value;
  if (Array.isArray(value)) return value.map((one) => replaced(one, id, pseudonym));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one, id, pseudonym)]));
}

/** Where in the feed an event stood about an object that is erased, and until when it was shown there. */
export interface FeedPlace {
  position: number;
  event: string;
  at: string;
}

/** An erasure with what it has still to ask: who had read from these places. */
export type Erasing = Erasure & { places: FeedPlace[] };

/** What one step of an erasure found. */
export interface Found {
  erased: Partial<Erasure['erased']>;
  recipients?: Erasure['recipients'];
  places?: FeedPlace[];
}

export const NOTHING_YET: Pick<Erasure, 'erased' | 'recipients'> = {
  erased: {
    events: 0,
    deliveries: 0,
    deliveries_withdrawn: 0,
    form_submissions: 0,
    write_to_record_jobs: 0,
    audit_entries: 0,
    refused_requests: 0,
    idempotency_keys: 0,
    access_log_entries: 0,
  },
  recipients: [],
};

/** The erasure with what another step of it found. */
export function withFound(erasure: Erasing, { erased, recipients = [], places = [] }: Found): Erasing {
  const counts = { ...erasure.erased };
  for (const [kept, count] of Object.entries(erased)) counts[kept as keyof typeof counts] += count;
  const told = new Map(erasure.recipients.map((one) => [one.partner_id, one]));
  for (const one of recipients) {
    const known = told.get(one.partner_id);
    told.set(one.partner_id, {
      partner_id: one.partner_id,
      deliveries: one.deliveries + (known?.deliveries ?? 0),
      under_way: one.under_way + (known?.under_way ?? 0),
      reads: one.reads + (known?.reads ?? 0),
      last_at: known && known.last_at > one.last_at ? known.last_at : one.last_at,
    });
  }
  return {
    ...erasure,
    erased: counts,
    recipients: [...told.values()],
    places: [...erasure.places, ...places],
  };
}
