import { describe, expect, it } from 'vitest';
import { Semaphore } from '../../src/platform/semaphore.ts';

/** Works that end when they are told to. */
function desk(atOnce: number) {
  const semaphore = new Semaphore(atOnce);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const come = (caller: string, name: string, failing = false) =>
    semaphore.run(caller, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
      if (failing) throw new Error(name);
      return name;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { begun, come, end };
}

describe('a semaphore', () => {
  it('lets as many through at a time as it is told, and answers each with its own', async () => {
    const { begun, come, end } = desk(2);
    const answers = ['a', 'b', 'c', 'd'].map((name) => come('one', name));
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('a');
    await end('c');
    await end('d');
    expect(await Promise.all(answers)).toEqual(['a', 'b', 'c', 'd']);
    void come('one', 'e');
    void come('one', 'f');
    void come('one', 'g');
    expect(begun.slice(4)).toEqual(['e', 'f']);
  });

  it('takes callers in turns: who wants much does not keep the others waiting', async () => {
    const { begun, come, end } = desk(1);
    for (const name of ['a1', 'a2', 'a3']) void come('a', name);
    for (const name of ['b1', 'b2']) void come('b', name);
    void come('c', 'c1');
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) await end(name);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
  });

  it('goes on after a work that fails', async () => {
    const { begun, come, end } = desk(1);
    const failed = expect(come('one', 'bad', true)).rejects.toThrow('bad');
    void come('one', 'good');
    await end('bad');
    await failed;
    expect(begun).toEqual(['bad', 'good']);
  });
});
