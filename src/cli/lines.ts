import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { Failure } from './exit.ts';
import type { World } from './world.ts';

export interface FileLine {
  /** Its number, from 1 on, as editors count. */
  no: number;
  text: string;
}

/** The lines of a file or of stdin (`-`), one at a time: a file may be larger than the memory. Blank ones count, and are left out. */
export async function* readFileLines(
  world: Pick<World, 'cwd' | 'stdin'>,
  file: string,
): AsyncGenerator<FileLine> {
  const bytes = file === '-' ? world.stdin : createReadStream(resolve(world.cwd, file));
  try {
    yield* linesOf(bytes);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Failure(`${file} cannot be read (${code}).`, 'Check its name, and who may read it.');
  }
}

export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<FileLine> {
  const decoder = new TextDecoder();
  let rest = '';
  let no = 0;
  for await (const chunk of bytes) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    for (const text of parts) {
      no++;
      if (text.trim() !== '') yield { no, text };
    }
  }
  rest += decoder.decode();
  if (rest.trim() !== '') yield { no: no + 1, text: rest };
}
