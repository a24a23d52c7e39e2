import { partnerKindNames } from '../../contract/alerts.ts';
import type { LiveKind } from '../../contract/operator/oversight/deployment.ts';
import type { portalLiveKinds } from '../../contract/portal/live.ts';
import type { practiceLiveKinds } from '../../contract/practice/live.ts';
import { SUBJECT_GRAINS } from '../../domain/oversight/figures.ts';
import type { Transaction } from '../database.ts';

/** Of each kind of thing, a text that differs once something has changed. */
export type Marks<K extends string = string> = Record<K, string>;

/**
 * One statement, whose parts are each a row or the end of an index. What people change is in the audit, whose head moves with each entry; what
 * the service does by itself is told by the tables of it.
 */
export async function readMarks(tx: Transaction, nodesSince: string): Promise<Marks<LiveKind>> {
  const row = await tx.first<Partial<Record<LiveKind | 'audit', string | null>>>(
    `SELECT (SELECT seq::text FROM audit_head) AS audit,
            concat_ws(' ', (SELECT max(id) FROM alerts), (SELECT count(*) FROM alerts WHERE ended_at IS NULL),
                      (SELECT max(ended_at) FROM alerts WHERE ended_at IS NOT NULL)) AS alerts,
            (SELECT concat_ws(' ', count(*), max(failing_since)) FROM webhook_lanes WHERE failing_since IS NOT NULL) AS webhooks,
            (SELECT string_agg(counts::text, ' ')
               FROM (SELECT counts FROM figures WHERE partner_id = '' AND grain = 1 ORDER BY at DESC, kind LIMIT 3) AS newest) AS figures,
            concat_ws(' ', (SELECT max(position) FROM changes), (SELECT max(ended_at) FROM changes WHERE ended_at IS NOT NULL)) AS changes,
            (SELECT string_agg(id, ' ' ORDER BY id) FROM nodes WHERE seen_at >= $1) AS nodes`,
    [nodesSince],
  );
  const audit = row?.audit ?? '';
  const of = (mark: string | null | undefined, isAudited = true) => `${mark ?? ''} ${isAudited ? audit : ''}`;
  return {
    alerts: of(row?.alerts, false),
    webhooks: of(row?.webhooks),
    figures: of(row?.figures, false),
    changes: of(row?.changes),
    approvals: audit,
    partners: audit,
    nodes: of(row?.nodes, false),
  };
}

type Rows<K extends string> = ({ id: string } & Marks<K>)[];

/**
 * The same of each of these partners, of rows that are its own: nothing here moves with what others do, so nobody learns from a wake-up that
 * somebody else is at work. The head of the audit, which moves for all, is not looked at.
 */
export function readPartnerMarks(
  tx: Transaction,
  ids: readonly string[],
): Promise<Rows<(typeof portalLiveKinds)[number]>> {
  return tx.query(
    `SELECT p.id,
            (SELECT concat_ws(' ', count(*), sum(k.version)) FROM api_keys k WHERE k.partner_id = p.id) AS keys,
            (SELECT concat_ws(' ', count(*), sum(w.version), count(w.withheld_since), count(l.failing_since), max(l.failing_since))
               FROM webhooks w JOIN webhook_lanes l ON l.webhook_no = w.no WHERE w.partner_id = p.id AND w.deleted_at IS NULL) AS webhooks,
            (SELECT concat_ws(' ', max(a.id), count(*) FILTER (WHERE a.ended_at IS NULL), max(a.ended_at))
               FROM alerts a WHERE a.partner_id = p.id AND a.kind = ANY ($2)) AS alerts,
            concat((SELECT concat_ws(' ', f.at, sum(number)) FROM figures f CROSS JOIN LATERAL unnest(f.counts) AS number
                     WHERE f.partner_id = p.id AND f.grain = $3
                       AND f.at = (SELECT max(newest.at) FROM figures newest WHERE newest.partner_id = p.id AND newest.grain = $3)
                     GROUP BY f.at)) AS traffic
       FROM unnest($1::text[]) AS p (id)`,
    [ids, partnerKindNames, SUBJECT_GRAINS[0]],
  );
}

/** The same of practices. */
export function readPracticeMarks(
  tx: Transaction,
  ids: readonly string[],
): Promise<Rows<(typeof practiceLiveKinds)[number]>> {
  return tx.query(
    `SELECT g.id,
            concat_ws(' ', (SELECT concat_ws(' ', count(*), max(s.lifted_at)) FROM stops s WHERE s.practice_group_id = g.id),
                      (SELECT concat_ws(' ', count(*), sum(k.version)) FROM api_keys k WHERE k.practice_group_id = g.id),
                      (SELECT concat_ws(' ', count(*), max(n.updated_at)) FROM network_members m JOIN networks n ON n.id = m.network_id
                        WHERE m.practice_group_id = g.id)) AS partners,
            concat_ws(' ', (SELECT max(l.no) FROM access_log l WHERE l.practice_group_id = g.id),
                      (SELECT max(c.position) FROM changes c WHERE c.practice_group_id = g.id),
                      (SELECT max(f.position) FROM feed f WHERE f.practice_group_id = g.id)) AS activity
       FROM unnest($1::text[]) AS g (id)`,
    [ids],
  );
}
