import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../../../packages/sdk/src/shape.ts';
import type { AuditEntry } from '../../../contract/operator/oversight/audit.ts';
import type { Page } from '../../../contract/page.ts';
import { readAnchor, type SignedAnchor } from '../../../domain/oversight/anchor.ts';
import type { Api } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import { exitCodes, Failure } from '../../exit.ts';
import { named, namesOf } from '../../names.ts';
import { inLine } from '../../printer.ts';
import { limitOf, limitOption } from '../limit.ts';

interface Verdict {
  ok: boolean;
  entries: number;
  first_bad?: number;
  anchor?: { seq: number; at: string; problem?: 'not_genuine' | 'cut' | 'rewritten' };
}

/** Of something new these are all the fields that it has, which no line has room for. */
const FIELDS_SHOWN_MAX = 5;

/** An entry may hold what stayed as it was, too. */
function changed({ before, after }: AuditEntry): string[] | string | null {
  if (!isRecord(after)) return null;
  const was = isRecord(before) ? before : {};
  const fields = Object.keys({ ...after, ...was }).filter(
    (field) => !isDeepStrictEqual(was[field] ?? null, after[field] ?? null),
  );
  const more = fields.length - FIELDS_SHOWN_MAX;
  return more > 0 ? `${fields.slice(0, FIELDS_SHOWN_MAX).join(', ')} and ${more} more` : fields;
}

const anchorsSay = (count: number) => (count === 1 ? '1 anchor says' : `${count} anchors say`);

export const auditCommands = [
  defineCommand({
    name: 'audit list',
    section: 'operator',
    calls: 'operator',
    summary: 'List who changed what, newest first.',
    options: {
      actor: { value: 'id', summary: 'Only by this key or operator.' },
      action: { value: 'name', summary: 'Only this action, such as key.revoke.' },
      subject: { value: 'id', summary: 'Only what was done to this, such as a key or a partner.' },
      group: { value: 'id', summary: 'Only what concerns this practice group.' },
      since: { value: 'time', summary: 'Only from then on, such as 2026-11-14T06:00:00Z.' },
      until: { value: 'time', summary: 'Only before then.' },
      limit: limitOption,
    },
    examples: ['audit list --limit 20', 'audit list --subject key_00Vb13pkZeDP1yAD86FW5V4Dr'],
    async run({ api, options, out }) {
      const { action, since, until } = options;
      const filter = {
        actor_id: options.actor,
        action,
        subject_id: options.subject,
        practice_group_id: options.group,
        since,
        until,
      };
      const page = await api.list(
        (query) => api.operator<Page<AuditEntry>>('GET', '/audit', { query: { ...query, ...filter } }),
        limitOf(options.limit),
      );
      const byKeyAlone = ({ actor }: AuditEntry) => actor.type === 'partner' && actor.name === undefined;
      const { key, group } = await namesOf(api, out, {
        keys: page.data.filter(byKeyAlone).map(({ actor }) => actor.id),
        groups: page.data.map(({ practice_group_id }) => practice_group_id),
      });
      out.page(page, [
        ['AT', ({ at }) => at],
        ['NUMBER', ({ seq }) => seq],
        [
          'WHO',
          (entry) => (byKeyAlone(entry) ? key(entry.actor.id) : named(entry.actor.name, entry.actor.id)),
        ],
        ['ACTION', ({ action }) => action],
        ['WHAT', ({ subject }) => `${subject.type} ${subject.id}`],
        ['GROUP', ({ practice_group_id }) => group(practice_group_id)],
        ['CHANGED', changed],
      ]);
    },
  }),
  defineCommand({
    name: 'audit verify',
    section: 'operator',
    calls: 'operator',
    summary: 'Verify the audit trail: no entry was altered, removed or moved.',
    details:
      'With anchors that were kept outside, it also finds a trail that was cut or written anew as a whole. Every line of the file is compared.',
    options: { anchor: { value: 'file', summary: 'A file with anchors, one on a line.' } },
    examples: ['audit verify', 'audit verify --anchor anchors.txt'],
    async run({ api, out, options }) {
      const [newest, ...older] = options.anchor === undefined ? [] : await readAnchors(options.anchor);
      const query = newest ? `?anchor=${encodeURIComponent(newest.line)}` : '';
      const verdict = await api.operator<Verdict>('GET', `/audit/verify${query}`);
      // The chain by itself is whole then: an anchor agrees with it if the entry of its number has its hash.
      if (verdict.ok)
        for (const anchor of older) {
          const problem = anchor.isGenuine ? await differs(api, anchor) : 'not_genuine';
          if (problem)
            Object.assign(verdict, { ok: false, anchor: { seq: anchor.seq, at: anchor.at, problem } });
          if (problem) break;
        }
      out.document(verdict, () => {
        if (verdict.ok)
          return `${out.paint('green', 'Whole')}${inLine(`: ${verdict.entries} entries, each as it was written${newest ? `, and as ${anchorsSay(older.length + 1)}` : ''}.`)}`;
        return `${out.paint('red', 'Altered')}${inLine(`: ${told(verdict)}`)}`;
      });
      return verdict.ok ? exitCodes.ok : exitCodes.failed;
    },
  }),
  defineCommand({
    name: 'audit anchor',
    section: 'operator',
    calls: 'operator',
    summary: 'Print an anchor of the audit trail: one line, to be kept where the service cannot write.',
    examples: ['audit anchor'],
    async run({ api, out }) {
      const anchor = await api.operator<{ line: string }>('GET', '/audit/anchor');
      out.document(anchor, () => inLine(`${anchor.line}`));
    },
  }),
];

/** Newest first. */
async function readAnchors(file: string): Promise<SignedAnchor[]> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new Failure(`The anchors cannot be read (${error.message}).`);
  });
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new Failure(`There is no anchor in ${file}.`);
  return lines
    .map((line, index) => {
      const anchor = readAnchor(line);
      if (!anchor) throw new Failure(`Line ${index + 1} of ${file} is no anchor.`);
      return anchor;
    })
    .sort((one, other) => other.seq - one.seq);
}

async function differs(api: Api, { seq, hash }: SignedAnchor): Promise<'rewritten' | undefined> {
  // Before the first entry there is nothing that could differ.
  if (seq % 2 ** 40 === 0) return undefined;
  const entry = await api.operator<{ hash: string }>('GET', `/audit/${seq}`);
  return entry.hash === hash ? undefined : 'rewritten';
}

function told({ entries, first_bad, anchor }: Verdict): string {
  if (first_bad !== undefined)
    return `entry ${first_bad} of ${entries} is the first that does not fit the one before.`;
  const of = `the anchor of entry ${anchor?.seq} from ${anchor?.at}`;
  const problems = {
    not_genuine: `${of} was not signed like that.`,
    cut: `the trail ends at entry ${entries}, before ${of}.`,
    rewritten: `the trail was written anew since ${of}: it has another entry there.`,
  };
  return problems[anchor?.problem ?? 'rewritten'];
}
