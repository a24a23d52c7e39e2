import { type Command, optionsOf } from './command.ts';

/** Completion for shells, from the declarations of the commands. No script calls the service. */

export const shells = ['bash', 'zsh', 'fish'] as const;

/**
 * The words that may follow. `after`: the words before the first option, a space, then the word before the cursor if that is an option. A star
 * stands for any text. The first case that fits counts.
 */
interface Case {
  after: string;
  words: readonly string[];
}

export function completionFor(shell: string, commands: readonly Command[]): string {
  const cases = casesOf(commands);
  if (shell === 'fish') return fish(cases);
  return shell === 'zsh' ? zsh(cases) : bash(cases);
}

function casesOf(commands: readonly Command[]): Case[] {
  const names = commands.map(({ name }) => name);
  const first = [...new Set(names.map((name) => name.split(' ')[0] ?? ''))];
  const values = commands.flatMap((command) =>
    Object.entries(optionsOf(command)).flatMap(([option, { value, choices = [] }]) =>
      value ? [{ after: `${command.name} *--${option}`, words: choices }] : [],
    ),
  );
  const own = commands.map((command) => ({
    after: `${command.name} *`,
    words: [
      ...(command.arguments ?? []).flatMap(({ choices = [] }) => choices),
      ...Object.keys(optionsOf(command)).map((option) => `--${option}`),
    ],
  }));
  const groups = first.map((group) => ({
    after: `${group} `,
    words: names.filter((name) => name.startsWith(`${group} `)).map((name) => name.slice(group.length + 1)),
  }));
  return [...values, ...own, ...groups, { after: ' ', words: [...first, 'help', '--help', '--version'] }];
}

/** For bash and zsh. */
function posix(cases: readonly Case[]): string {
  const lines = cases.map(({ after, words }) => {
    const pattern = after.split('*').map((part) => part && `'${part}'`);
    return `    ${pattern.join('*')}) echo '${words.join(' ')}' ;;`;
  });
  return ['_porter_words() {', '  case "$1" in', ...lines, '  esac', '}'].join('\n');
}

/** `before`: the words between `porter` and the cursor, for the shell. */
const readLine = (before: string) => `  local line='' option='' word
  for word in ${before}; do
    case "$word" in -*) break ;; esac
    line="$line\${line:+ }$word"
  done
  for word in ${before}; do
    case "$word" in -*) option="$word" ;; *) option='' ;; esac
  done`;

const bash = (cases: readonly Case[]) => `# bash completion for porter
${posix(cases)}
_porter() {
${readLine(`"\${COMP_WORDS[@]:1:COMP_CWORD-1}"`)}
  COMPREPLY=($(compgen -W "$(_porter_words "$line $option")" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _porter porter`;

const zsh = (cases: readonly Case[]) => `#compdef porter
${posix(cases)}
_porter() {
${readLine(`"\${(@)words[2,CURRENT-1]}"`)}
  compadd -- \${=$(_porter_words "$line $option")} || _files
}
compdef _porter porter`;

const fish = (cases: readonly Case[]) => `# fish completion for porter
function __porter_words
  set -l before (commandline -opc)[2..-1]
  set -l line
  for word in $before
    string match -q -- '-*' $word; and break
    set -a line $word
  end
  set -l option ''
  if set -q before[1]; and string match -q -- '-*' $before[-1]
    set option $before[-1]
  end
  switch "$line $option"
${cases.map(({ after, words }) => `    case '${after}'\n      string split ' ' -- '${words.join(' ')}'`).join('\n')}
  end
end
complete -c porter -f -a '(__porter_words)'`;
