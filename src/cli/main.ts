import { commands } from './commands/index.ts';
import { runInTerminal } from './terminal.ts';

await runInTerminal(commands, new URL('../../package.json', import.meta.url));
