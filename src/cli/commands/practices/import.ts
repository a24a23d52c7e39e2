import { isRecord } from '../../../../packages/sdk/src/shape.ts';
import { type ImportOutcome, ITEMS_MAX } from '../../../contract/operator/practices/import.ts';
import { validationEntry } from '../../../contract/problems.ts';
import type { ValidationEntry } from '../../../contract/validate.ts';
import { withCommas } from '../../../contract/wording.ts';
import { digestOf, type Item, keyText, readItem } from '../../../domain/practices/import.ts';
import type { Api } from '../../api.ts';
import { defineCommand } from '../../command.ts';
import { exitCodes, Failure, UsageError } from '../../exit.ts';
import { parseJson } from '../../json.ts';
import { type FileLine, readFileLines } from '../../lines.ts';
import { inLine, type Printer } from '../../printer.ts';
import type { World } from '../../world.ts';

/** What one call takes, with something left over for the brackets. */
const BATCH_BYTES_MAX = 2 * 1024 * 1024 - 1_024;
/** So many refusals and differences are shown; the others are counted. */
const SHOWN_MAX = 50;

const FILE = { name: 'file', summary: 'NDJSON, an item on each line; `-` is stdin.' } as const;

export const importCommands = [
  defineCommand({
    name: 'import',
    section: 'operator',
    calls: 'operator',
    summary: 'Import practice groups, forms, assignees and submission types.',
    details: `Takes a file with an item on each line, and sends ${withCommas(ITEMS_MAX)} at a time. What is refused, as is a line that is not a JSON object, is told with its line and keeps nothing else from being imported. After a break, go on with the --from-line that it names, or run it again: what is there already changes nothing.`,
    arguments: [FILE],
    options: { 'from-line': { value: 'number', summary: 'Begin with this line; the first is 1.' } },
    examples: ['import practices.ndjson', 'import practices.ndjson --from-line 40001'],
    async run({ api, args, options, out, world }) {
      const lines = linesFrom(lineNumber(options['from-line']), world, args.file);
      const goOn = (no: number) => `Run it again with --from-line ${no} to go on.`;
      const taken = await importFile({ api, out }, lines, goOn);
      out.document(taken, () => told(taken));
      return taken.refused > 0 ? exitCodes.failed : exitCodes.ok;
    },
  }),
  defineCommand({
    name: 'reconcile',
    section: 'operator',
    calls: 'operator',
    summary: 'Compare a file of items with what Porter has.',
    details:
      'Takes a file as `porter import` does, sends the digest of each item, and shows what differs, what is missing here, and what is missing there: in the file. With `--take theirs`, what differs or is missing here is imported from the file; what only Porter has stays. With `--take ours`, Porter’s side of every difference is written as NDJSON, to be taken over by the practice software.',
    arguments: [FILE],
    options: {
      group: { value: 'id', summary: 'Only this practice group; the file has no other items.' },
      take: { value: 'side', summary: 'Settle the differences.', choices: ['theirs', 'ours'] },
    },
    examples: [
      'reconcile practices.ndjson',
      'reconcile practices.ndjson --take theirs',
      'reconcile practices.ndjson --take ours',
    ],
    async run({ api, args, options, out, world }) {
      if (options.take === 'theirs' && args.file === '-')
        throw new UsageError('--take theirs reads the file twice.', 'Give a file instead of stdin.');
      const query = {
        ...(options.group !== undefined && { practice_group_id: options.group }),
        ...(options.take === 'ours' && { include: 'items' }),
      };
      const counts = { missing_here: 0, missing_there: 0, differs: 0 };
      const shown: Difference[] = [];
      const wanted = new Set<string>();
      let compared = 0;
      const digests = async function* () {
        for await (const line of readFileLines(world, args.file)) {
          compared++;
          yield `${JSON.stringify(digested(line))}\n`;
        }
      };
      const compare = async () => {
        for await (const one of api.operatorLines<Difference>('/reconcile', query, digests())) {
          if (one.problem)
            throw new Failure(`The comparison broke off: ${inLine(one.problem.message)}`, 'Run it again.');
          counts[one.difference]++;
          if (options.take === 'ours') world.stdout.write(`${JSON.stringify(ours(one))}\n`);
          else if (shown.length < SHOWN_MAX) shown.push(one);
          if (options.take === 'theirs' && one.difference !== 'missing_there') wanted.add(keyTextOf(one));
        }
      };
      await out.during(() => `Compared ${itemsIn(compared)}`, compare());
      const summary = `${itemsIn(compared)} compared: ${counts.differs} ${counts.differs === 1 ? 'differs' : 'differ'}, ${counts.missing_here} missing here, ${counts.missing_there} missing there.`;
      if (options.take === 'ours') {
        out.note(summary);
        return exitCodes.ok;
      }
      if (options.take === 'theirs') {
        out.note(summary);
        const goOn = () => 'Run it again: what was imported does not differ any more.';
        const taken = await importFile({ api, out }, chosen(world, args.file, wanted), goOn);
        if (counts.missing_there > 0)
          out.note('What only Porter has stays. To remove it, import it with "delete": true.');
        out.document(taken, () => told(taken));
        return taken.refused > 0 ? exitCodes.failed : exitCodes.ok;
      }
      out.document({ compared, ...counts, differences: shown }, () =>
        shown.length === 0 ? summary : `${out.table(shown, columns)}\n${summary}`,
      );
      return exitCodes.ok;
    },
  }),
];

// ---- Import ----

interface Numbered {
  no: number;
  /** Undefined: the line is not a JSON object. */
  value: object | undefined;
  bytes: number;
}

async function* linesFrom(from: number, world: World, file: string): AsyncGenerator<Numbered> {
  for await (const line of readFileLines(world, file)) if (line.no >= from) yield numbered(line);
}

function numbered({ no, text }: FileLine): Numbered {
  const value = parseJson(text);
  return { no, value: isRecord(value) ? value : undefined, bytes: Buffer.byteLength(text) + 1 };
}

const AN_ITEM = 'Write one item on each line, such as {"kind": "form", …}.';
/** What comes of a line that cannot be sent with others in one call. The service says the like of it in a call of lines. */
const noObject: Omit<ImportOutcome, 'index'> = {
  id: null,
  outcome: 'refused',
  problem: { error: validationEntry.code, message: `It is not a JSON object. ${AN_ITEM}` },
};

type Taken = Record<ImportOutcome['outcome'], number>;

async function importFile(
  { api, out }: { api: Api; out: Printer },
  lines: AsyncIterable<Numbered>,
  goOn: (no: number) => string,
): Promise<Taken> {
  const taken: Taken = { created: 0, updated: 0, unchanged: 0, stale: 0, deleted: 0, refused: 0 };
  let done = 0;
  let batch: Numbered[] = [];
  let bytes = 0;
  const send = async () => {
    const sent = batch.filter(({ value }) => value !== undefined);
    const items = sent.map(({ value }) => value);
    const { outcomes } =
      items.length === 0
        ? { outcomes: [] }
        : await api.operator<{ outcomes: ImportOutcome[] }>('POST', '/import', { body: { items } });
    const came = new Map(outcomes.map((one) => [sent[one.index], one]));
    for (const line of batch) {
      const { id, outcome, problem } = came.get(line) ?? noObject;
      taken[outcome]++;
      if (outcome === 'refused' && taken.refused <= SHOWN_MAX)
        out.note(inLine(`Line ${line.no}${id === null ? '' : ` (${id})`} is refused: ${sentence(problem)}`));
    }
    done += batch.length;
    batch = [];
    bytes = 0;
  };
  const all = async () => {
    for await (const line of lines) {
      if (batch.length === ITEMS_MAX || bytes + line.bytes > BATCH_BYTES_MAX) await send();
      batch.push(line);
      bytes += line.bytes;
    }
    await send();
  };
  const told = all().catch((error) => {
    const [first] = batch;
    if (first) out.note(`It broke off at line ${first.no}. ${goOn(first.no)}`);
    throw error;
  });
  await out.during(() => `Imported ${itemsIn(done)}`, told);
  return taken;
}

function sentence(problem: ImportOutcome['problem']): string {
  const entries = problem?.entries?.map(({ path, message }) => `${path.join('.') || 'item'}: ${message}`);
  const more = problem?.more_entries;
  if (entries && more) entries.push(`And ${more} more.`);
  return entries?.join(' ') ?? problem?.message ?? '';
}

function told(taken: Taken): string {
  const parts = Object.entries(taken).filter(([, count]) => count > 0);
  return parts.length === 0
    ? 'Nothing to import.'
    : `${parts.map(([name, count]) => `${count} ${name}`).join(', ')}.`;
}

const itemsIn = (count: number) => (count === 1 ? '1 item' : `${count} items`);

function lineNumber(text: string | undefined): number {
  if (text === undefined) return 1;
  if (!/^[1-9]\d{0,11}$/.test(text))
    throw new UsageError(`--from-line: "${text}" is not the number of a line.`);
  return Number(text);
}

// ---- Reconcile ----

interface Difference {
  kind: Item['kind'];
  id: string;
  practice_group_id?: string;
  assignee_type?: string;
  difference: 'missing_here' | 'missing_there' | 'differs';
  item?: object;
  problem?: { message: string };
}

const columns = [
  ['DIFFERENCE', ({ difference }: Difference) => difference],
  ['KIND', ({ kind }: Difference) => kind],
  ['PRACTICE GROUP', ({ practice_group_id, id }: Difference) => practice_group_id ?? id],
  ['ID', ({ id, assignee_type }: Difference) => (assignee_type ? `${assignee_type}/${id}` : id)],
] as const;

function keyTextOf({ kind, id, practice_group_id = id, assignee_type = '' }: Difference): string {
  return keyText(kind, practice_group_id, assignee_type, id);
}

/** What Porter has, or that it has none. */
function ours({ item, difference: _difference, ...key }: Difference): object {
  return item ?? { ...key, delete: true };
}

function itemOf(line: FileLine): Item {
  const { value } = numbered(line);
  if (!value) throw new Failure(`Line ${line.no} is not a JSON object.`, AN_ITEM);
  const item = readItem(value);
  if (!Array.isArray(item)) return item;
  const faults = item.map(({ path, message }: ValidationEntry) => `${path.join('.') || 'item'}: ${message}`);
  throw new Failure(
    inLine(`Line ${line.no} is not valid: ${faults.join(' ')}`),
    'Mend the line, and run it again.',
  );
}

function digested(line: FileLine): object {
  const item = itemOf(line);
  if (item.fields === null)
    throw new Failure(`Line ${line.no} removes an item.`, 'Compare files of what there is.');
  const { kind, id, groupId, assigneeType } = item;
  return {
    kind,
    id,
    ...(kind !== 'practice_group' && { practice_group_id: groupId }),
    ...(kind === 'assignee' && { assignee_type: assigneeType }),
    digest: digestOf(item),
  };
}

async function* chosen(world: World, file: string, wanted: ReadonlySet<string>): AsyncGenerator<Numbered> {
  for await (const line of readFileLines(world, file)) if (wanted.has(itemOf(line).key)) yield numbered(line);
}
