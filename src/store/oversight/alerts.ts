import type { AlertDetails, AlertKindName, Ending, SubjectType } from '../../contract/alerts.ts';
import type { Page, PageQuery } from '../../contract/page.ts';
import { presentAlert } from '../../domain/oversight/alert-words.ts';
import type { NewAlert, OpenAlert } from '../../domain/oversight/alerts.ts';
import { isEndTold, toldTo } from '../../domain/oversight/notification.ts';
import type { Transaction } from '../database.ts';
import { announce } from '../events/operator-events.ts';
import { byId, readPage } from '../page.ts';
import { where } from '../where.ts';

/** An alert as it is stored. */
export interface StoredAlert {
  id: string;
  kind: AlertKindName;
  subject: { type: SubjectType; id: string; name: string };
  partner_id: string | null;
  practice_group_id: string | null;
  /** What they are called now; null to whoever may not see it. */
  partner_name: string | null;
  group_name: string | null;
  details: AlertDetails;
  began_at: string;
  ended_at: string | null;
  ended_because: Ending | null;
}

type Row = Omit<StoredAlert, 'subject' | 'details'> & {
  subject_type: SubjectType;
  subject_id: string;
  details: AlertDetails & { name: string };
};

export const ALERT = `a.id, a.kind, a.subject_type, a.subject_id, a.partner_id, a.practice_group_id, a.details, a.began_at, a.ended_at,
  a.ended_because, (SELECT p.name FROM partners p WHERE p.id = a.partner_id) AS partner_name,
  (SELECT g.name FROM practice_groups g WHERE g.id = a.practice_group_id) AS group_name`;

export function alertOf({
  subject_type,
  subject_id,
  details: { name, ...details },
  ...alert
}: Row): StoredAlert {
  return { ...alert, subject: { type: subject_type, id: subject_id, name }, details };
}

export type AlertRow = Row;

// ---- Reading ----

export interface AlertFilter extends PageQuery {
  open?: 'true' | 'false' | undefined;
  kind?: AlertKindName | undefined;
  partner_id?: string | undefined;
}

/** Newest first. `kinds`: those that whoever asks is told of. */
export async function listAlertPage(
  tx: Transaction,
  filter: AlertFilter,
  kinds: readonly AlertKindName[],
): Promise<Page<StoredAlert>> {
  return readPage(filter, byId, async ([before], limit) => {
    const { text, values } = where(
      ['a.id < ?', before],
      ['a.kind = ?', filter.kind],
      ['a.partner_id = ?', filter.partner_id],
      ['(a.ended_at IS NULL) = ?', filter.open && filter.open === 'true'],
      ['a.kind = ANY (?)', kinds],
    );
    const rows = await tx.query<Row>(
      `SELECT ${ALERT} FROM alerts a ${text} ORDER BY a.id DESC LIMIT $${values.length + 1}`,
      [...values, limit],
    );
    return rows.map(alertOf);
  });
}

export async function findAlert(tx: Transaction, id: string): Promise<StoredAlert | undefined> {
  const row = await tx.first<Row>(`SELECT ${ALERT} FROM alerts a WHERE a.id = $1`, [id]);
  return row && alertOf(row);
}

export async function countOpenAlerts(tx: Transaction): Promise<{ kind: string; count: number }[]> {
  return tx.query('SELECT kind, count(*) AS count FROM alerts WHERE ended_at IS NULL GROUP BY kind', []);
}

// ---- Looking ----

/** Any number, as long as it is always the same: it names the lock. */
const LOOK_LOCK = 7_205_759_403_797;
const LOOK_EVERY = "interval '60 seconds'";

/**
 * Lets one node look, once a minute by the clock of the database, and tells it the time; undefined: it is another one's turn, or too early. A
 * clock that was put back does not keep anybody waiting.
 */
export async function beginLook(
  tx: Transaction,
  at: string | null,
): Promise<{ at: string; lastKey: string } | undefined> {
  return tx.first(
    `UPDATE alert_head SET looked_at = due.at
       FROM (SELECT coalesce($1::timestamptz, clock_timestamp()) AS at WHERE pg_try_advisory_xact_lock(${LOOK_LOCK})) AS due
      WHERE looked_at <= due.at - ${LOOK_EVERY} OR looked_at > due.at
     RETURNING looked_at AS at, last_key AS "lastKey"`,
    [at],
  );
}

export async function findOpenAlerts(tx: Transaction): Promise<OpenAlert[]> {
  return tx.query(`SELECT id, kind, subject_id AS "subjectId" FROM alerts WHERE ended_at IS NULL`, []);
}

// ---- Writing ----

/** With what is to be told, in the same transaction. One that is open already is not begun again. Returns those that were begun. */
export async function beginAlerts(
  tx: Transaction,
  at: string,
  alerts: readonly (NewAlert & { id: string; ended?: Ending })[],
): Promise<StoredAlert[]> {
  if (alerts.length === 0) return [];
  const rows = await tx.query<Row>(
    `INSERT INTO alerts AS a (id, kind, subject_type, subject_id, partner_id, practice_group_id, details, began_at, ended_at, ended_because)
     SELECT id, kind, subject_type, subject_id, partner_id, practice_group_id, details, $2, CASE WHEN ended IS NOT NULL THEN $2::timestamptz END, ended
       FROM jsonb_to_recordset($1::jsonb) AS new (id text, kind text, subject_type text, subject_id text, partner_id text,
                                                  practice_group_id text, details jsonb, ended text)
         ON CONFLICT (kind, subject_id) WHERE ended_at IS NULL DO NOTHING
     RETURNING ${ALERT}`,
    [
      JSON.stringify(
        alerts.map(({ id, kind, subject, partnerId, practiceGroupId, details, ended }) => ({
          id,
          kind,
          subject_type: subject.type,
          subject_id: subject.id,
          partner_id: partnerId,
          practice_group_id: practiceGroupId,
          details: { ...details, name: subject.name },
          ended,
        })),
      ),
      at,
    ],
  );
  const begun = rows.map(alertOf);
  announceAll(tx, 'alert.began', at, begun);
  await noteToTell(tx, 'began', begun);
  return begun;
}

/** Returns those that were ended. */
export async function endAlerts(
  tx: Transaction,
  at: string,
  ends: readonly { id: string; because: Ending }[],
): Promise<StoredAlert[]> {
  if (ends.length === 0) return [];
  const rows = await tx.query<Row>(
    `UPDATE alerts a SET ended_at = $3, ended_because = over.because FROM unnest($1::text[], $2::text[]) AS over (id, because)
      WHERE a.id = over.id AND a.ended_at IS NULL RETURNING ${ALERT}`,
    [ends.map(({ id }) => id), ends.map(({ because }) => because), at],
  );
  const ended = rows.map(alertOf);
  announceAll(tx, 'alert.ended', at, ended);
  const told = ended.filter(({ ended_because }) => ended_because === null || isEndTold(ended_because));
  await noteToTell(tx, 'ended', told);
  return ended;
}

/** The operator's own systems hear of all of them, as `GET /operator/v1/alerts` has them. */
function announceAll(
  tx: Transaction,
  event: 'alert.began' | 'alert.ended',
  at: string,
  alerts: readonly StoredAlert[],
): void {
  for (const alert of alerts)
    announce(tx, {
      id: `${alert.id.replace(/^alt_/, 'evt_')}_${event.slice('alert.'.length)}`,
      event,
      object: 'Alert',
      objectId: alert.id,
      payload: { ...presentAlert(alert, 'operator') },
      sourceId: 'alerts',
      at,
    });
}

async function noteToTell(
  tx: Transaction,
  moment: 'began' | 'ended',
  alerts: readonly StoredAlert[],
): Promise<void> {
  const notices = alerts.flatMap(({ id, kind, partner_id }) =>
    toldTo({ kind, partnerId: partner_id }).map((whom) => ({ id, whom })),
  );
  if (notices.length === 0) return;
  await tx.query(
    `INSERT INTO alert_notices (alert_id, moment, partner_id) SELECT id, $2, whom FROM unnest($1::text[], $3::text[]) AS told (id, whom)`,
    [notices.map(({ id }) => id), moment, notices.map(({ whom }) => whom)],
  );
}
