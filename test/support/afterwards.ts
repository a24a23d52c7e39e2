import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

const afterFile: (() => unknown)[] = [];

// Here, while the file is being read: Vitest does not hear of an `afterAll` that comes from inside a `beforeAll`.
afterAll(async () => {
  for (const end of afterFile.reverse()) await end();
});

/** What is begun inside a test ends with the test; what is begun for a file, at its top or in its `beforeAll`, with the file. */
export function afterwards(end: () => unknown): void {
  try {
    onTestFinished(async () => void (await end()));
  } catch {
    afterFile.push(end);
  }
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'porter-test-'));
  afterwards(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
