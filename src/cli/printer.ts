import { styleText } from 'node:util';
import type { Output, World } from './world.ts';

type Format = Parameters<typeof styleText>[0];
type Field = string | number | boolean | null | undefined | readonly unknown[] | object;

/** A column of a table: its title and what stands in it. */
export type Column<T> = readonly [title: string, cell: (row: T) => Field];

/** What takes longer is told to be under way. */
export const SLOW_MS = 1_000;
const FRAME_MS = 100;
/** Between two lines about progress where nothing can be drawn over. */
const LINE_EVERY_MS = 5_000;
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** Data to stdout, as JSON or for people; everything else to stderr. */
export class Printer {
  readonly #world: World;
  readonly #json: boolean;
  /** Something tells about its progress already. */
  #busy = false;

  constructor(world: World, json: boolean) {
    this.#world = world;
    this.#json = json;
  }

  get isForPeople(): boolean {
    return !this.#json;
  }

  /** The one answer of a command. */
  document(value: unknown, forPeople: () => string): void {
    this.#print(value, forPeople, 2);
  }

  /** One entry of a stream. */
  line(value: unknown, forPeople: () => string): void {
    this.#print(value, forPeople);
  }

  #print(value: unknown, forPeople: () => string, indent?: number): void {
    const { stdout } = this.#world;
    const tame = hasColours(this.#world, stdout) ? visibleBetweenColours : visible;
    stdout.write(`${this.#json ? safeJson(value, indent) : tame(forPeople())}\n`);
  }

  /** Every field of one thing. */
  record(value: object): void {
    this.document(value, () => {
      const fields = Object.entries(value);
      const width = Math.max(...fields.map(([name]) => name.length));
      return fields
        .map(([name, field]) => `${this.paint('dim', inLine(name).padEnd(width))}  ${cell(field)}`)
        .join('\n');
    });
  }

  /** A list in the shape in which the API answers one. */
  page<T>(
    page: { data: T[]; next_cursor: string | null; has_more?: boolean },
    columns: readonly Column<T>[],
    none = 'There are none.',
  ): void {
    if (this.#json || page.data.length > 0) this.document(page, () => this.table(page.data, columns));
    else this.note(none);
    // The last page of the event feed has a cursor as well.
    if ((page.has_more ?? page.next_cursor !== null) && !this.#json)
      this.note('There are more: see --limit.');
  }

  table<T>(rows: readonly T[], columns: readonly Column<T>[]): string {
    const cells = rows.map((row) => columns.map(([, of]) => cell(of(row))));
    const natural = columns.map(([title], at) =>
      Math.max(title.length, ...cells.map((row) => row[at]?.length ?? 0)),
    );
    const { isTTY, columns: room } = this.#world.stdout;
    const widths = isTTY && room ? fitted(natural, room - GAP.length * (columns.length - 1)) : natural;
    const line = (texts: readonly string[]) => {
      const whole = texts.map((text, at) => cut(text, widths[at] ?? 0).padEnd(widths[at] ?? 0)).join(GAP);
      return cut(whole.trimEnd(), (isTTY && room) || whole.length);
    };
    const titles = line(columns.map(([title]) => title));
    return [this.paint('dim', titles), ...cells.map(line)].join('\n');
  }

  /** Colours and the like, where stdout is a terminal that wants them. */
  paint(format: Format, text: string): string {
    return paintFor(this.#world, this.#world.stdout)(format, text);
  }

  note(text: string): void {
    const { stderr } = this.#world;
    stderr.write(`${this.#busy && stderr.isTTY ? '\r\x1b[K' : ''}${visible(text)}\n`);
  }

  /** Waits for `work`, and says so once that takes more than a second. */
  async during<T>(what: string | (() => string), work: Promise<T>): Promise<T> {
    if (this.#busy) return work;
    this.#busy = true;
    try {
      await this.#tell(typeof what === 'string' ? () => what : what, work);
    } finally {
      this.#busy = false;
    }
    return work;
  }

  async #tell(text: () => string, work: Promise<unknown>): Promise<void> {
    const { stderr, clock, env } = this.#world;
    let done = false;
    const ended = work.then(
      () => (done = true),
      () => (done = true),
    );
    await Promise.race([ended, clock.sleep(SLOW_MS)]);
    const draws = stderr.isTTY === true && env.TERM !== 'dumb';
    for (let frame = 0, said = ''; !done; frame++) {
      if (draws) stderr.write(`\r\x1b[K${FRAMES[frame % FRAMES.length]} ${text()}`);
      else if (text() !== said) {
        said = text();
        stderr.write(`${said}…\n`);
      }
      await Promise.race([ended, clock.sleep(draws ? FRAME_MS : LINE_EVERY_MS)]);
      if (done && draws) stderr.write('\r\x1b[K');
    }
  }
}

function hasColours({ env }: World, output: Output): boolean {
  return output.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
}

export function paintFor(world: World, output: Output): (format: Format, text: string) => string {
  const colours = hasColours(world, output);
  return (format, text) => (colours ? styleText(format, text, { validateStream: false }) : text);
}

const GAP = '  ';
/** A narrower column says nothing. */
const COLUMN_MIN = 6;

/** Takes from the widest column until all fit, and from the first one, which has the IDs, only in the end. */
function fitted(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  for (let left = widths.reduce((sum, width) => sum + width, 0) - room; left > 0; left--) {
    const [first = 0, ...others] = widths;
    const widest = Math.max(...others, 0);
    if (Math.max(first, widest) <= COLUMN_MIN) break;
    const at = widest > COLUMN_MIN ? others.indexOf(widest) + 1 : 0;
    widths[at] = (widths[at] ?? 0) - 1;
  }
  return widths;
}

function cut(text: string, width: number): string {
  // Half of a character beyond U+FFFF is none.
  return text.length <= width ? text : `${text.slice(0, width - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function cell(field: Field): string {
  if (field === null || field === undefined) return '-';
  if (Array.isArray(field) && field.every((one) => typeof one !== 'object'))
    return inLine(field.join(', ')) || '-';
  return inLine(typeof field === 'object' ? JSON.stringify(field) : String(field));
}

/** Text from afar must neither steer the terminal nor turn the direction of what follows. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;

/** Makes text from afar harmless; it may have several lines. */
export function visible(text: string): string {
  return text.replaceAll(STEERING, (one) => (one === '\n' ? one : '�'));
}

/** Makes text from afar harmless where a line break would look like another line of ours. */
export function inLine(text: string): string {
  return text.replaceAll(STEERING, '�');
}

/** The same for text in which `paint` was at work: its own codes stay. */
function visibleBetweenColours(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with one
      .split(/(\x1b\[(?:1|2|22|31|32|39)m)/)
      .map((part, at) => (at % 2 ? part : visible(part)))
      .join('')
  );
}

/** JSON escapes only some of them by itself, and means the same if all are. */
export function safeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(STEERING, (one) =>
    one === '\n' ? one : `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
