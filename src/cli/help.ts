import { type Command, type Options, optionsOf, sections } from './command.ts';
import { exitCodes, exitMeanings } from './exit.ts';
import { placeholder } from './parse.ts';

type Bold = (text: string) => string;

/** Help about everything (`''`), a group of commands such as `keys`, or one command. */
export function helpText(about: string, commands: readonly Command[], bold: Bold): string {
  const command = commands.find(({ name }) => name === about);
  if (command) return commandHelp(command, bold);
  return about === '' ? overallHelp(commands, bold) : groupHelp(about, commands, bold);
}

function overallHelp(commands: readonly Command[], bold: Bold): string {
  const parts = [
    'porter works with a Porter service: develop against its API, look after partners.',
    `${bold('Usage')}\n  porter <command> [options]`,
  ];
  for (const [section, title] of Object.entries(sections)) {
    const lines = summaries(commands.filter((one) => one.section === section));
    parts.push(`${bold(title)}\n${columns(lines)}`);
  }
  parts.push(
    `${bold('Environment')}\n${columns(environment)}`,
    `${bold('Exit codes')}\n${columns(exitLines())}`,
    `${bold('Examples')}\n${examples(['trigger appointment.confirmed', 'listen --forward-to http://localhost:3000/hooks', 'keys --help'])}`,
    'Every command takes --json and --help.',
  );
  return parts.join('\n\n');
}

/** A group's commands in one line: `partners list|create|show`. */
function summaries(commands: readonly Command[]): [string, string][] {
  const first = ({ name }: Command) => name.split(' ')[0] ?? '';
  return [...new Set(commands.map(first))].map((group) => {
    const members = commands.filter((one) => first(one) === group);
    const [only] = members;
    if (members.length === 1 && only && !only.name.includes(' ')) return [group, only.summary];
    const names = members.map(({ name }) => name.slice(group.length + 1)).join('|');
    return [group, `${groupSummaries[group] ?? ''} (${names})`];
  });
}

const groupSummaries: Record<string, string> = {
  profiles: 'Keep addresses and keys',
  partners: 'Partners and their onboarding',
  agreements: 'What was agreed with partners',
  keys: 'API keys',
  networks: 'Networks: which practice groups may act for one another',
  approvals: 'What waits for a second person',
  groups: 'Practice groups',
  events: 'Events',
  types: 'Submission types',
  webhooks: 'Show, pause, activate and replay webhooks',
  deliveries: 'What was sent to whom, and retries',
  changes: 'What partners changed',
  refusals: 'Why calls were refused',
  audit: 'Who changed what',
  operators: 'People and systems with a token of the operator',
};

export const environment: [string, string][] = [
  ['PORTER_URL', 'Where the service is; unless set, that of the demo world, or `http://127.0.0.1:8080`.'],
  ['PORTER_KEY', 'The API key of a partner.'],
  ['PORTER_GROUP', 'The practice group to act for.'],
  ['PORTER_OPERATOR_TOKEN', 'The token of an operator.'],
  ['WEBHOOK_SECRET', 'The secret that `verify` checks with, and `listen` signs with.'],
  ['PORTER_DATA_DIR', 'The folder of the service with the demo world; `.porter` unless set.'],
  ['NO_COLOR', 'Set to anything: no colours.'],
];

export function exitLines(): [string, string][] {
  return Object.entries(exitCodes).map(([name, code]) => [
    String(code),
    exitMeanings[name as keyof typeof exitCodes],
  ]);
}

function groupHelp(group: string, commands: readonly Command[], bold: Bold): string {
  const members = commands.filter(({ name }) => name.startsWith(`${group} `));
  return [
    `${groupSummaries[group] ?? group}.`,
    `${bold('Usage')}\n  porter ${group} <command> [options]`,
    `${bold('Commands')}\n${columns(members.map((one) => [usage(one), one.summary]))}`,
    `${bold('Examples')}\n${examples(members.map((one) => one.examples[0]))}`,
    `See \`porter ${group} <command> --help\` for the options of each.`,
  ].join('\n\n');
}

function commandHelp(command: Command, bold: Bold): string {
  const { summary, details, arguments: args = [], options: own = {} } = command;
  const all = optionsOf(command);
  const shared = Object.fromEntries(Object.entries(all).filter(([name]) => !Object.hasOwn(own, name)));
  const parts = [details ? `${summary}\n\n${wrap(details, LINE_WIDTH).join('\n')}` : summary];
  parts.push(`${bold('Usage')}\n  porter ${usage(command)} [options]`);
  if (args.length > 0)
    parts.push(`${bold('Arguments')}\n${columns(args.map((one) => [`<${one.name}>`, describe(one)]))}`);
  if (Object.keys(own).length > 0) parts.push(`${bold('Options')}\n${columns(optionLines(own))}`);
  parts.push(`${bold('Common options')}\n${columns(optionLines(shared))}`);
  parts.push(`${bold('Examples')}\n${examples(command.examples)}`);
  return parts.join('\n\n');
}

/** `keys issue --partner <id> …`: its words, arguments and what it cannot do without. */
export function usage({ name, arguments: args = [], options = {} }: Command): string {
  const required = Object.entries(options).flatMap(([option, { required, value }]) =>
    required ? `--${option} <${value}>` : [],
  );
  return [name, ...args.map(placeholder), ...required].join(' ');
}

function optionLines(options: Options): [string, string][] {
  return Object.entries(options).map(([name, option]) => [
    option.value ? `--${name} <${option.value}>` : `--${name}`,
    describe(option),
  ]);
}

function describe({
  summary,
  choices,
  required,
}: {
  summary: string;
  choices?: readonly string[];
  required?: true;
}) {
  const list = choices ? ` One of: ${choices.join(', ')}.` : '';
  return `${summary}${list}${required ? ' Required.' : ''}`;
}

function examples(lines: readonly string[]): string {
  return lines.map((line) => `  porter ${line}`).join('\n');
}

const LINE_WIDTH = 100;
const LEFT_MAX = 34;

/** Two columns, the right one wrapped. */
function columns(lines: readonly (readonly [string, string])[]): string {
  const width = Math.min(LEFT_MAX, Math.max(...lines.map(([left]) => left.length)));
  return lines
    .map(([left, right]) => {
      const wrapped = wrap(right, LINE_WIDTH - width - 4).join(`\n${' '.repeat(width + 4)}`);
      const gap = left.length > width ? `\n${' '.repeat(width + 4)}` : ' '.repeat(width - left.length + 2);
      return `  ${left}${gap}${wrapped}`;
    })
    .join('\n');
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line ? `${line} ${word}` : word;
  }
  return lines;
}
