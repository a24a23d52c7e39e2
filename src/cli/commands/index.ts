import type { Command } from '../command.ts';
import { clientCommands } from './client.ts';
import { serviceCommands } from './service.ts';

export const commands: readonly Command[] = [...serviceCommands, ...clientCommands];
