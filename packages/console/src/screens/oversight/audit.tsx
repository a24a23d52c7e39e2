import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { all, ask } from '../../api/client.ts';
import type { AuditEntry } from '../../api/generated.ts';
import { differencesOf } from '../../parts/differences.tsx';
import { saveFile } from '../../parts/download.ts';
import { Failure } from '../../parts/failure.tsx';
import { Pick, Sentence, TextFilter, useFilters } from '../../parts/filters.tsx';
import { momentOrNull, toLocalInput } from '../../parts/form.tsx';
import { List } from '../../parts/list.tsx';
import { Page } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { Actor, nameOfActor, Subject } from './audit-entry.tsx';
import { AuditTrust } from './audit-trust.tsx';
import { actions, inWords } from './audit-words.ts';

const choices = Object.entries(actions)
  .map(([value, title]) => ({ value, title }))
  .sort((a, b) => a.title.localeCompare(b.title));

const NAMES = ['actor_id', 'action', 'subject_id', 'practice_group_id', 'since', 'until'] as const;

/** Who did what? */
export function Audit() {
  const { values, set, clear } = useFilters(NAMES);
  const operators = useQuery(all('listOperators', {}));
  const actors = (operators.data?.data ?? []).map(({ id, name }) => ({ value: id, title: name }));
  const isOther = values.actor_id && !actors.some(({ value }) => value === values.actor_id);
  return (
    <Page title="Audit" actions={<Export query={values} />}>
      <AuditTrust />
      <Sentence isFiltered={Object.keys(values).length > 0} clear={clear}>
        what
        <Pick
          label="Who"
          value={values.actor_id}
          choices={
            isOther ? [...actors, { value: values.actor_id ?? '', title: values.actor_id ?? '' }] : actors
          }
          any="anybody"
          onChange={(value) => set('actor_id', value)}
        />
        did:
        <Pick
          label="Action"
          value={values.action}
          choices={choices}
          any="anything"
          onChange={(value) => set('action', value)}
        />
        to
        <TextFilter
          label="Subject"
          value={values.subject_id}
          any="anything (an ID)"
          onChange={(value) => set('subject_id', value)}
        />
        {values.practice_group_id && <>of practice {values.practice_group_id}</>}
        since
        <TextFilter
          label="Since"
          type="datetime-local"
          value={values.since && toLocalInput(values.since)}
          any="the beginning"
          onChange={(value) => set('since', momentOrNull(value ?? '') ?? undefined)}
        />
        until
        <TextFilter
          label="Until"
          type="datetime-local"
          value={values.until && toLocalInput(values.until)}
          any="now"
          onChange={(value) => set('until', momentOrNull(value ?? '') ?? undefined)}
        />
      </Sentence>
      <List
        label="Audit"
        of="listAudit"
        input={{ query: values }}
        keyOf={({ seq }) => String(seq)}
        hrefOf={({ seq }) => `/audit/${seq}`}
        empty="Nobody did anything like that."
        columns={[
          { title: 'Who', width: '1.2fr', cell: (entry) => <Actor of={entry} /> },
          { title: 'Did', width: '2fr', cell: ({ action }) => inWords(action) },
          { title: 'To', width: '1.8fr', broad: true, cell: ({ subject }) => <Subject of={subject} /> },
          { title: 'What changed', width: '2.5fr', wideOnly: true, cell: inShort },
          { title: 'When', width: '8rem', cell: ({ at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}

/** Known from the rest of the line. */
const DULL = new Set(['id', 'created_at', 'updated_at', 'practice_group_id']);

/** The differences on one line: the whole of them is on the page of the entry. */
function inShort({ before, after }: AuditEntry): string {
  const changes = differencesOf(before, after).filter(({ name }) => !DULL.has(name));
  const texts = changes.map(({ name, was, is }) =>
    was !== undefined && is !== undefined
      ? `${name.replaceAll('_', ' ')} ${was} → ${is}`
      : `${name.replaceAll('_', ' ')} ${is ?? was}`,
  );
  return texts.join(' · ');
}

const EXPORT_MAX = 10_000;

/** What the filters show, as a table that other programs open; up to so many entries. */
function Export({ query }: { query: Partial<Record<(typeof NAMES)[number], string>> }) {
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async () => {
    setRunning(true);
    setError(undefined);
    try {
      saveFile('porter-audit.csv', 'text/csv', toCsv(await entriesOf(query)));
    } catch (thrown) {
      setError(thrown);
    }
    setRunning(false);
  };
  return (
    <>
      {error !== undefined && <Failure error={error} />}
      <Button className="button primary" onPress={run} isPending={isRunning}>
        {isRunning ? 'Exporting…' : 'Export'}
      </Button>
    </>
  );
}

async function entriesOf(query: object): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  let cursor: string | undefined;
  do {
    const { data } = await ask('listAudit', { query: { ...query, page_size: 100, cursor } });
    entries.push(...data.data);
    cursor = data.next_cursor ?? undefined;
  } while (cursor && entries.length < EXPORT_MAX);
  return entries;
}

function toCsv(entries: readonly AuditEntry[]): string {
  const rows = entries.map((entry) => [
    entry.seq,
    entry.at,
    entry.actor.type,
    entry.actor.id,
    nameOfActor(entry),
    entry.action,
    entry.subject.type,
    entry.subject.id,
    entry.practice_group_id ?? '',
    entry.request_id ?? '',
    inShort(entry),
    entry.hash,
  ]);
  const head =
    'seq,at,actor_type,actor_id,actor,action,subject_type,subject_id,practice_group_id,request_id,changes,hash';
  return [head, ...rows.map((row) => row.map(toCell).join(','))].join('\r\n');
}

/** In quotation marks, and never taken for a formula: names are written by others. */
function toCell(value: string | number): string {
  const text = String(value);
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
