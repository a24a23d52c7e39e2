import { defineCommand } from '../command.ts';
import { completionFor, shells } from '../completion.ts';

/** About the command line itself. */
export const shellCommands = [
  defineCommand({
    name: 'completion',
    section: 'setUp',
    calls: 'nobody',
    summary: 'Print the completion of commands and options for a shell.',
    details:
      'bash: porter completion bash > ~/.local/share/bash-completion/completions/porter. zsh: source <(porter completion zsh), after compinit. fish: porter completion fish > ~/.config/fish/completions/porter.fish.',
    arguments: [{ name: 'shell', summary: 'The shell.', choices: shells }],
    examples: ['completion bash'],
    async run({ args, out, commands }) {
      const script = completionFor(args.shell, commands);
      out.document({ script }, () => script);
    },
  }),
  defineCommand({
    name: 'version',
    section: 'setUp',
    calls: 'nobody',
    summary: 'Print the version, as --version does.',
    examples: ['version'],
    async run({ out, world: { version } }) {
      out.document({ version }, () => version);
    },
  }),
];
