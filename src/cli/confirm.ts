import type { Call } from './command.ts';
import { Failure, UsageError } from './exit.ts';
import { inLine } from './printer.ts';

export const yesOption = { summary: 'Do not ask. Scripts need it.' } as const;

/** What takes access away is asked for once more on a terminal. A script cannot be asked: it says `--yes`. */
export async function confirm(
  { world, options }: { world: Call['world']; options: { yes: boolean } },
  describe: () => Promise<string>,
): Promise<void> {
  if (options.yes) return;
  if (!world.stdin.isTTY || !world.stderr.isTTY)
    throw new UsageError('Nobody can be asked here whether this is meant.', 'Add --yes to say so.');
  const answer = await world.ask(`${inLine(await describe())} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new Failure('Nothing was done.');
}
