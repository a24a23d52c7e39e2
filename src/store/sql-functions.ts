import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';

/**
 * The functions of the database. Their text is in `src/sql`, one file each, with what it guarantees at its head. TypeScript calls each
 * through the wrapper that `sqlFunction` makes: by the names of its arguments, never by their position.
 */

const SQL_FOLDER = new URL('../sql/', import.meta.url);

/** The text of every function, by its name. */
export async function readSqlFunctions(folder: URL = SQL_FOLDER): Promise<Map<string, string>> {
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.sql'));
  const texts = await Promise.all(
    files.map(
      async (file) => [basename(file, '.sql'), await readFile(new URL(file, folder), 'utf8')] as const,
    ),
  );
  return new Map(texts.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** What an argument of a type may be. A list may also come as PostgreSQL writes one (`list`), which spares the driver the escaping. */
interface ArgumentTypes {
  /** A number beyond 2^53 comes as text. */
  bigint: number | string | null | undefined;
  boolean: boolean;
  integer: number;
  json: string;
  smallint: number;
  text: string;
  timestamptz: string | null;
  'bigint[]': readonly number[] | string;
  'boolean[]': readonly boolean[] | string | null;
  'integer[]': readonly (number | null)[] | string | null;
  'double precision[]': readonly (number | null)[] | null;
  'date[]': readonly string[] | string;
  'text[]': readonly (string | null)[] | string | null;
  'timestamptz[]': readonly string[] | string;
}

/**
 * A list as PostgreSQL writes an array. For numbers and words of our own only: nothing is escaped, which is what makes the
 * driver's own way slow.
 */
export function list<T>(items: readonly T[], part: (item: T) => string | number | boolean): string {
  return `{${items.map(part).join(',')}}`;
}

export type Signature = Readonly<Record<string, keyof ArgumentTypes>>;
type Arguments<S extends Signature> = { [Name in keyof S]: ArgumentTypes[S[Name]] };

/** Whoever sends a statement and tells its rows: a transaction, or a connection for a statement that is one by itself. */
export interface Sender {
  query<Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]>;
}

/** Every wrapper that was made, with the arguments that it names: a test holds them against the database. */
export const wrapped = new Map<string, Signature>();

/**
 * Makes the wrapper of a function. `signature` names its arguments with their types. Rows come as the function declares them; a function
 * that returns a single value has it in a column of the function's own name.
 */
export function sqlFunction<S extends Signature>(name: string, signature: S) {
  wrapped.set(name, signature);
  const names = Object.keys(signature);
  const text = `SELECT * FROM ${name}(${names.map((argument, index) => `"${argument}" => $${index + 1}`).join(', ')})`;
  return <Row extends object>(sender: Sender, args: Arguments<S>): Promise<Row[]> =>
    sender.query<Row>(
      text,
      names.map((argument) => args[argument]),
    );
}
