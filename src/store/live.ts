import type { LiveKind } from '../contract/operator/deployment.ts';
import type { Transaction } from './database.ts';

/** Of each kind of thing, a text that differs once something has changed. */
export type Marks = Record<LiveKind, string>;

/**
 * One statement, whose parts are each a row or the end of an index. What people change is in the audit, whose head moves with each entry; what
 * the service does by itself is told by the tables of it.
 */
export async function readMarks(tx: Transaction, nodesSince: string): Promise<Marks> {
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
