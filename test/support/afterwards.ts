import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const ends: (() => unknown)[] = [];

/** Called after each file by each-file.ts: Vitest does not hear of an `afterAll` that comes from inside a `beforeAll`. */
export async function endFile(): Promise<void> {
  for (const end of ends.splice(0).reverse()) await end();
}

export function afterFile(end: () => unknown): void {
  ends.push(end);
}

/** What is begun inside a test ends with the test; what is begun for a file, at its top or in its `beforeAll`, with the file. */
export function afterwards(end: () => unknown): void {
  try {
    onTestFinished(async () => void (await end()));
  } catch {
    afterFile(end);
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'porter-test-'));
  afterwards(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
