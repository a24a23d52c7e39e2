import { afterAll } from 'vitest';
import { endFile } from './afterwards.ts';

/** Runs for each test file. The files of a worker share their modules, so what a module does as it is loaded is done for the first file alone. */
afterAll(endFile);
