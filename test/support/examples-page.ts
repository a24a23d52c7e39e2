import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Block,
  blocksOf,
  compareJson,
  compareText,
  learnJson,
  learnText,
  nameOf,
  prettyJson,
  ROOT,
  textOf,
} from './examples.ts';
import { Background, type Ran, runBlock, type Surroundings } from './examples-world.ts';
import { until } from './porter-process.ts';

/**
 * Runs a page as its reader would: block after block in one demo world. What a page shows as an answer must be the
 * answer. With PORTER_EXAMPLES=write the answers are written into the pages instead, to be looked through by a person.
 */

const WRITE = process.env.PORTER_EXAMPLES === 'write';

export interface Directions {
  /** Blocks that cannot run here, and files that are shown. */
  isLeftOut: (block: Block) => boolean;
  /** Goes on while the following blocks run. */
  goesOn: (block: Block) => boolean;
  /** Whatever a reader does between two blocks, such as stopping the service. */
  before?: (block: Block, running: readonly Background[]) => Promise<void>;
  /** Another test looks at what a block prints that is left out here. */
  isSeenElsewhere?: (block: Block) => boolean;
}

/** The programs in `examples/`, which pages show whole and run by their names. What is in folders is too long to be shown. */
const programs = new Map(
  readdirSync(join(ROOT, 'examples'), { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => [readFileSync(join(ROOT, 'examples', name), 'utf8'), name]),
);

export const programOf = ({ code }: Block): string | undefined => programs.get(code);

/** Pages whose examples need more around them than a demo world, and the tests that run them. */
export const RUN_ELSEWHERE: Record<string, string> = {
  'docs/guides/client-library.md': 'test/service/process/sdk-package.test.ts',
  'docs/guides/command-line.md': 'test/browser/cli-guide.test.ts',
  'docs/guides/python.md': 'test/python/sdk-python.test.ts',
  'docs/operating/practice-software.md': 'test/service/practices/practice-software.test.ts',
};

/** One for each tab: a reader keeps to one language. */
export function readersOf(page: string): string[] {
  const tabs = new Set(blocksOf(page).flatMap(({ tab }) => tab ?? []));
  return tabs.size > 0 ? [...tabs] : ['everybody'];
}

/** Of each group of tabs, the reader's own, or else the first. */
function blocksFor(page: string, reader: string): Block[] {
  const groups: Block[][] = [];
  for (const block of blocksOf(page)) {
    const group = groups.at(-1);
    const isNew = !group?.[0]?.tab || !block.tab || group.some(({ tab }) => tab === block.tab);
    if (isNew) groups.push([block]);
    else group.push(block);
  }
  return groups.map((group) => (group.find(({ tab }) => tab === reader) ?? group[0]) as Block);
}

export async function runPage(
  page: string,
  reader: string,
  demo: Surroundings,
  directions: Directions,
): Promise<void> {
  const written = new Map<Block, string>();
  const running: Background[] = [];
  /** What ran last, until its output was looked at. */
  let last: Block | undefined;
  let printed: Ran | undefined;
  let leftOut: Block | undefined;

  for (const block of blocksFor(page, reader)) {
    if (block.output) {
      if (last && printed) await compare(block, last, printed, demo, written);
      else if (!leftOut || !directions.isSeenElsewhere?.(leftOut))
        await compareLines(block, running, demo, written);
      last = undefined;
      continue;
    }
    await directions.before?.(block, running);
    last = undefined;
    leftOut = directions.isLeftOut(block) || programOf(block) ? block : undefined;
    if (leftOut) continue;
    if (directions.goesOn(block)) {
      running.unshift(new Background(demo.stand.toReal(block.code), demo));
      continue;
    }
    last = block;
    printed = await runBlock(block, demo);
    if (printed.code !== 0)
      throw new Error(`${nameOf(block)} ended with ${printed.code}:\n${printed.stdout}\n${printed.stderr}`);
  }
  for (const one of running) await one.stop();
  if (WRITE) rewrite(page, written);
}

/** Deliveries are made behind the answer: whoever looks too early looks again. */
const READS_ONLY = /^curl -sS '?http[^|]*$/;

async function compare(
  block: Block,
  ran: Block,
  printed: Ran,
  demo: Surroundings,
  written: Map<Block, string>,
): Promise<void> {
  const isJson = block.language === 'json';
  const check = ({ stdout }: Ran) => {
    if (isJson) compareJson(JSON.parse(block.code), JSON.parse(stdout), demo.stand, nameOf(block));
    else compareText(block.code, stdout, demo.stand, nameOf(block));
  };
  if (WRITE) {
    if (isJson) learnJson(JSON.parse(block.code), JSON.parse(printed.stdout), demo.stand);
    else learnText(block.code, printed.stdout, demo.stand);
    const text = isJson ? prettyJson(JSON.parse(printed.stdout)) : printed.stdout;
    written.set(block, `${demo.stand.toShown(text).trim()}\n`);
  } else if (READS_ONLY.test(ran.code) && !/ -d | -X /.test(ran.code)) {
    let answer = printed;
    let reason: unknown;
    const agrees = async () => {
      try {
        check(answer);
        return true;
      } catch (error) {
        reason = error;
        answer = await runBlock(ran, demo);
        return false;
      }
    };
    await until('the answer shown', agrees).catch(() => {
      throw reason;
    });
  } else {
    check(printed);
  }
}

/** What the program prints that was started last. */
async function compareLines(
  block: Block,
  running: Background[],
  demo: Surroundings,
  written: Map<Block, string>,
): Promise<void> {
  const [program] = running;
  if (!program) throw new Error(`${nameOf(block)}: nothing ran that could have printed this.`);
  const lines = await program.lines(block.code.trimEnd().split('\n').length);
  if (!WRITE) {
    compareText(block.code, lines, demo.stand, nameOf(block));
    return;
  }
  learnText(block.code, lines, demo.stand);
  written.set(block, `${demo.stand.toShown(lines).trimEnd()}\n`);
}

function rewrite(page: string, written: Map<Block, string>): void {
  const lines = textOf(page).split('\n');
  for (const [{ line, code }, text] of [...written].reverse())
    lines.splice(line - 1, code.split('\n').length - 1, ...text.trimEnd().split('\n'));
  writeFileSync(join(ROOT, page), lines.join('\n'));
}
