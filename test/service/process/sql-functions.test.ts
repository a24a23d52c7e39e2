import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { readSqlFunctions, wrapped } from '../../../src/store/sql-functions.ts';
// The wrappers are made where they are used.
import '../../../src/service/compose.ts';
import { unreleasedMain, versionOne } from '../../support/earlier-versions.ts';
import { createUpToDateDatabase } from '../../support/service.ts';
import { superuser } from '../../support/superuser.ts';

/** The files in src/sql are the functions of the database, and nothing else is. */

const ROOT = resolve(import.meta.dirname, '../../..');
const texts = await readSqlFunctions();

interface InDatabase {
  name: string;
  body: string;
  definition: string;
  arguments: Record<string, string>;
}

async function functionsIn(databaseUrl: string): Promise<InDatabase[]> {
  const db = await superuser(databaseUrl);
  const { rows } = await db.query<InDatabase>(
    `SELECT proname AS name, prosrc AS body, pg_get_functiondef(p.oid) AS definition,
            coalesce((SELECT json_object_agg(proargnames[n], format_type(t, NULL) ORDER BY n)
                        FROM unnest(proargtypes) WITH ORDINALITY AS argument (t, n)), '{}') AS arguments
       FROM pg_proc p WHERE pronamespace = 'public'::regnamespace ORDER BY proname`,
  );
  return rows;
}

const filesBelow = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name));

it('each file has the text of one function, under its name, with what it guarantees at its head', () => {
  for (const [name, text] of texts) {
    expect(text, name).toMatch(new RegExp(`^-- .{20,}[\\s\\S]*^CREATE OR REPLACE FUNCTION ${name}\\(`, 'm'));
    expect(text.match(/FUNCTION \w+\(/g), name).toHaveLength(1);
  }
});

it('a function is defined once, and by no migration', () => {
  const defined = [...filesBelow('migrations', /\.sql$/), ...filesBelow('src', /\.(sql|ts)$/)].flatMap(
    (file) =>
      [...readFileSync(join(ROOT, file), 'utf8').matchAll(/CREATE (?:OR REPLACE )?FUNCTION (\w+)/gi)].map(
        ([, name]) => name,
      ),
  );
  expect(defined.sort()).toEqual([...texts.keys()].sort());
});

it('a new database has the functions of the files, to the letter', async () => {
  const found = await functionsIn(await createUpToDateDatabase());
  expect(found.map(({ name }) => name)).toEqual([...texts.keys()].sort());
  for (const { name, body } of found) expect(texts.get(name), name).toContain(`AS $$${body}$$;`);
});

it.each([unreleasedMain, versionOne])('so has one that was upgraded from $name', async (version) => {
  const upgraded = await functionsIn((await version.upgraded()).databaseUrl);
  expect(upgraded).toEqual(await functionsIn(await createUpToDateDatabase()));
});

/** As PostgreSQL spells them in full. */
const FULL: Record<string, string> = { timestamptz: 'timestamp with time zone' };
const inFull = (type: string) => type.replace(/^\w+/, (word) => FULL[word] ?? word);

it('each wrapper names the arguments of its function, all of them and with their types', async () => {
  const found = new Map((await functionsIn(await createUpToDateDatabase())).map((one) => [one.name, one]));
  expect(wrapped.size).toBeGreaterThan(10);
  for (const [name, signature] of wrapped)
    expect(
      Object.fromEntries(Object.entries(signature).map(([argument, type]) => [argument, inFull(type)])),
      name,
    ).toEqual(found.get(name)?.arguments);
});

/** What only SQL can say, and why. */
const SPEAKS_SQL: Record<string, string> = {
  'src/store/oversight/access-log.ts':
    'access_through is asked for each row of a page, within the query of the page',
  'src/store/events/event-life.ts':
    'receives_until and why_withheld are asked for each webhook, within the query that finds them',
  'src/store/oversight/figures.ts': 'add_counts is called for each row that is written',
  'test/service/process/service-login.test.ts':
    'a login that is not the service calls what it may not; it has no wrapper',
  'test/service/events/delivery-hazards.test.ts': 'place_in is called by functions alone, and has no wrapper',
};

it('nobody calls a function past its wrapper, but for what only SQL can say', () => {
  // Definitions aside: `CREATE FUNCTION x(`. A name of a single word may be a method's.
  const names = [...texts.keys()].map((name) => (name.includes('_') ? name : `(?:SELECT|FROM|,)\\s+${name}`));
  const called = new RegExp(`(?<!FUNCTION )\\b(?:${names.join('|')})\\(`, 'i');
  const strays = ['src', 'bench', 'test']
    .flatMap((folder) => filesBelow(folder, /\.ts$/))
    .filter((file) => called.test(readFileSync(join(ROOT, file), 'utf8')));
  expect(strays.sort()).toEqual(Object.keys(SPEAKS_SQL).sort());
});
