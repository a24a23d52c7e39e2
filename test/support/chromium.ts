import { existsSync } from 'node:fs';

/** The browser of the tests: Debian's, and where it is installed the one without a window, which takes three fifths of the processor time. */
const WITHOUT_WINDOW = '/usr/bin/chromium-headless-shell';
export const CHROMIUM = existsSync(WITHOUT_WINDOW) ? WITHOUT_WINDOW : '/usr/bin/chromium';
export const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
