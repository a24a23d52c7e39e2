import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { keepKeyFile } from '../../src/platform/key-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'porter-key-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

describe('a key that is kept in a file', () => {
  it('is made once, for its owner alone, and found from then on', async () => {
    const file = join(folder, 'data', 'key');
    expect(await keepKeyFile(file, () => 'first')).toBe('first');
    expect(await keepKeyFile(file, () => 'second')).toBe('first');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(folder, 'data'))).toEqual(['key']);
  });

  it('never takes the place of one that appeared meanwhile', async () => {
    const file = join(folder, 'key');
    const late = () => {
      writeFileSync(file, 'first\n');
      return 'second';
    };
    expect(await keepKeyFile(file, late)).toBe('first');
    expect(readFileSync(file, 'utf8')).toBe('first\n');
    expect(readdirSync(folder)).toEqual(['key']);
  });

  it('is not made anew because the one that is there cannot be read', async () => {
    const file = join(folder, 'key');
    mkdirSync(file);
    await expect(keepKeyFile(file, () => 'second')).rejects.toThrow('EISDIR');
    expect(readdirSync(folder)).toEqual(['key']);
  });
});
