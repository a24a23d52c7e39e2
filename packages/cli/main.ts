#!/usr/bin/env node
import { clientCommands } from '../../src/cli/commands/client.ts';
import { runInTerminal } from '../../src/cli/terminal.ts';

await runInTerminal(clientCommands, new URL('../package.json', import.meta.url));
