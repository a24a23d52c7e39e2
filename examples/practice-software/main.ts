import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';

/**
 * A small practice software: it has its own copy of the submission types, takes what partners change, and says what became of it.
 *
 *   The feed of changes is what it goes by; a webhook only tells it that there is something to read. It keeps its place in the feed,
 *   so it misses nothing, whoever was away for however long. Everything that it decides is on disk before it says so.
 *
 *   PORTER_URL, PORTER_OPERATOR_TOKEN (role source), WEBHOOK_SECRETS (separated by commas), PORT, JOURNAL
 */

const {
  PORTER_URL = 'http://127.0.0.1:8080',
  PORTER_OPERATOR_TOKEN = '',
  WEBHOOK_SECRETS = '',
  PORT = '3001',
  JOURNAL = 'practice-software.ndjson',
} = process.env;

interface Change {
  id: string;
  practice_group_id: string;
  object_id: string;
  /** Null in a withdrawal: Porter has the submission type no more. */
  before: Record<string, unknown> | null;
  after: Record<string, unknown>;
  state?: 'pending' | 'applied' | 'rejected';
}

type Entry =
  | { change: Change; rejected: string | null; isAsked?: boolean }
  | { withdrawn: string; before: Record<string, unknown> | null }
  | { cursor: string };

// ---- What it knows, and keeps ----

/** The submission types by practice group and ID, each field with the change that it is of. */
const settings = new Map<string, Map<string, { value: unknown; by: string }>>();
/** Each change that was decided, and why it was rejected if it was. */
const decided = new Map<string, { change: Change; rejected: string | null }>();
const withdrawn = new Set<string>();
/** Changes that it was asked about and took, and has not read in the feed yet. */
const asked = new Set<string>();
let cursor = '';

function remember(entry: Entry): void {
  if ('cursor' in entry) cursor = entry.cursor;
  else if ('withdrawn' in entry) takeBack(entry.withdrawn, entry.before);
  else if (!asked.delete(entry.change.id)) {
    decided.set(entry.change.id, entry);
    if (entry.isAsked) asked.add(entry.change.id);
    if (entry.rejected === null) apply(entry.change);
  }
}

/** A change that it was asked about is later than each change that precedes it in the feed, so the earlier change yields. */
function apply({ id, practice_group_id, object_id, after }: Change): void {
  const key = `${practice_group_id} ${object_id}`;
  const fields = settings.get(key) ?? new Map();
  settings.set(key, fields);
  for (const [name, value] of Object.entries(after))
    if (asked.has(id) || !asked.has(fields.get(name)?.by ?? '')) fields.set(name, { value, by: id });
}

/** Porter did not make the change: the fields that the change was the last to set become what Porter has. */
function takeBack(id: string, before: Record<string, unknown> | null): void {
  withdrawn.add(id);
  asked.delete(id);
  const change = decided.get(id)?.change;
  decided.delete(id);
  if (!change) return;
  const fields = settings.get(`${change.practice_group_id} ${change.object_id}`);
  for (const [name, value] of Object.entries(before ?? {}))
    if (fields?.get(name)?.by === id) fields.set(name, { value, by: '' });
}

const journal = openSync(JOURNAL, 'a+');
// A last line that is not whole was never relied on by anybody.
const lines = readFileSync(JOURNAL, 'utf8').split('\n');
if (lines.at(-1) !== '') writeSync(journal, '\n');
for (const line of lines) {
  try {
    if (line !== '') remember(JSON.parse(line));
  } catch {}
}

/** On disk first. */
function keep(...entries: Entry[]): void {
  if (entries.length === 0) return;
  writeSync(journal, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  fsyncSync(journal);
  for (const entry of entries) remember(entry);
}

/** What this practice thinks of a change; null: it takes it. */
function judge({ after }: Change): string | null {
  const limit = after.daily_limit;
  return typeof limit === 'number' && limit > 500 ? 'We cannot answer more than 500 of these a day.' : null;
}

// ---- Reading the feed, and answering ----

const headers = { authorization: `Bearer ${PORTER_OPERATOR_TOKEN}`, 'content-type': 'application/json' };

async function call(path: string, body?: unknown, method = 'POST'): Promise<Response> {
  return fetch(`${PORTER_URL}/operator/v1${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  });
}

/** One page. Returns whether there is more. */
async function readOn(): Promise<boolean> {
  const answer = await call(`/changes?page_size=100${cursor && `&cursor=${cursor}`}`, undefined, 'GET');
  const page = (await answer.json()) as {
    data: Change[];
    next_cursor: string;
    has_more: boolean;
    resume_cursor?: string;
  };
  // Porter was set back to a backup: it says from where on its history is another one.
  if (answer.status === 410) keep({ cursor: page.resume_cursor ?? '' });
  if (answer.status === 410) return true;
  if (!answer.ok) throw new Error(`the feed answered ${answer.status}`);
  // In the order of the feed, each once: it may have been read before.
  keep(
    ...page.data
      .filter(({ id }) => !decided.has(id) || asked.has(id))
      .map((change) => ({ change, rejected: judge(change) })),
  );
  await Promise.all(page.data.filter(({ state }) => state === 'pending').map(({ id }) => tell(id)));
  if (page.next_cursor !== cursor) keep({ cursor: page.next_cursor });
  return page.has_more;
}

/** Said twice, it is answered the same. */
async function tell(id: string): Promise<void> {
  const reason = decided.get(id)?.rejected ?? null;
  const answer =
    reason === null
      ? await call(`/changes/${id}/applied`)
      : await call(`/changes/${id}/rejected`, { reason });
  await answer.text();
  if (!answer.ok && answer.status !== 404) throw new Error(`${id}: answered ${answer.status}`);
}

let wake = () => {};
let isRung = false;
function ring(): void {
  isRung = true;
  wake();
}

async function follow(): Promise<never> {
  for (;;) {
    isRung = false;
    try {
      while (await readOn());
    } catch (error) {
      console.error(`not now: ${error instanceof Error ? error.message : error}`);
    }
    // A webhook may get lost on the way here: a look now and then costs nothing.
    if (!isRung)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
  }
}

// ---- Being told, and being asked ----

const secrets = WEBHOOK_SECRETS.split(',').filter(Boolean);

type Received = { event: string } & Change;

function verified(body: string, { headers }: IncomingMessage): Received {
  for (const secret of secrets) {
    try {
      return new Webhook(secret).verify(body, headers as Record<string, string>) as Received;
    } catch {}
  }
  throw new Error('the signature is not right');
}

/** Before a change is made, where the practice group is written through: it must be on disk when the answer says so. */
function ask(change: Change): { status: number; body?: object } {
  if (withdrawn.has(change.id)) return { status: 409, body: { message: 'This change was withdrawn.' } };
  if (!decided.has(change.id)) {
    const message = judge(change);
    if (message !== null) return { status: 422, body: { message } };
    keep({ change, rejected: null, isAsked: true });
  }
  return { status: 200 };
}

function receive({ event, ...change }: Received): { status: number; body?: object } {
  if (event === 'change.proposed') return ask(change);
  if (event === 'change.withdrawn' && !withdrawn.has(change.id))
    keep({ withdrawn: change.id, before: change.before });
  ring();
  return { status: 204 };
}

function shown(): object {
  const types = [...settings].map(([key, fields]) => [
    key,
    Object.fromEntries([...fields].map(([name, { value }]) => [name, value])),
  ]);
  const decisions = [...decided].map(([id, { rejected }]) => [
    id,
    rejected === null ? 'applied' : 'rejected',
  ]);
  return { cursor, settings: Object.fromEntries(types), decisions: Object.fromEntries(decisions) };
}

const server = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray().catch(() => [])).toString('utf8');
  let answer: { status: number; body?: object };
  try {
    answer = request.method === 'GET' ? { status: 200, body: shown() } : receive(verified(body, request));
  } catch (error) {
    answer = { status: 400, body: { message: String(error) } };
  }
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
});
server.on('error', () => {
  console.error(`Port ${PORT} is taken. Set PORT to another one.`);
  process.exit(1);
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on http://127.0.0.1:${PORT}`));
process.once('SIGTERM', () => {
  closeSync(journal);
  process.exit(0);
});
void follow();
