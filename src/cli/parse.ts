import { parseArgs } from 'node:util';
import { didYouMean, nearest } from '../domain/oversight/nearest.ts';
import { type Argument, type Call, type Command, type Option, type Options, optionsOf } from './command.ts';
import { UsageError } from './exit.ts';

/** What a command line asks for: a command to run, or help about some words of the tree. */
export type Parsed =
  | { kind: 'run'; command: Command; args: Call['args']; options: Record<string, unknown>; json: boolean }
  | { kind: 'help'; about: string; json: boolean };

export function parse(argv: readonly string[], commands: readonly Command[]): Parsed {
  const known: Options = Object.assign({}, ...commands.map(optionsOf));
  const { tokens, positionals } = parseArgs({
    args: [...argv],
    strict: false,
    tokens: true,
    allowPositionals: true,
    options: Object.fromEntries([
      ...Object.entries(known).map(([name, { value }]) => [name, { type: value ? 'string' : 'boolean' }]),
      ['help', { type: 'boolean', short: 'h' }],
    ]),
  });
  const given = tokens.filter((token) => token.kind === 'option');
  const json = given.some(({ name }) => name === 'json');

  if (positionals.length === 0 && given.some(({ name }) => name === 'version'))
    return parse(['version', ...(json ? ['--json'] : [])], commands);
  const isHelp = positionals[0] === 'help';
  if (isHelp || given.some(({ name }) => name === 'help') || argv.length === 0)
    return { kind: 'help', about: inTree(positionals.slice(isHelp ? 1 : 0), commands), json };
  const [odd] = given;
  if (positionals.length === 0 && odd) throw unknownOption(odd.rawName, known);
  const command = find(positionals, commands);
  if (!command) throw unknownCommand(positionals, commands);

  const declared = optionsOf(command);
  const options: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(declared))
    options[name] = option.value ? (option.many ? [] : undefined) : false;
  for (const { name, rawName, value } of given) {
    const option = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (!option) throw unknownOption(rawName, declared, command);
    options[name] = readValue(option, rawName, value, options[name], command);
  }
  for (const [name, { required, value }] of Object.entries(declared))
    if (required && !(options[name] as string | string[] | undefined)?.length)
      throw new UsageError(`--${name} <${value}> is missing.`, helpHint(command));
  return { kind: 'run', command, args: argumentsOf(command, positionals), options, json };
}

function readValue(
  option: Option,
  rawName: string,
  value: string | undefined,
  before: unknown,
  command: Command,
): unknown {
  if (!option.value) {
    if (value !== undefined)
      throw new UsageError(
        `${rawName} is a switch and takes no value.`,
        `Write ${rawName} alone, or leave it out.`,
      );
    return true;
  }
  if (value === undefined || value === '')
    throw new UsageError(`${rawName} needs a value: ${rawName} <${option.value}>.`, helpHint(command));
  if (!option.many) {
    if (before !== undefined) throw new UsageError(`${rawName} was given twice.`, 'Give it once.');
    return oneOf(option.choices, value, rawName);
  }
  const values = value.split(',').map((one) => oneOf(option.choices, one.trim(), rawName));
  return [...(before as string[]), ...values];
}

function argumentsOf(command: Command, positionals: readonly string[]): Call['args'] {
  const rest = positionals.slice(command.name.split(' ').length);
  const args: Record<string, unknown> = {};
  for (const argument of command.arguments ?? []) {
    const values = rest.splice(0, argument.many ? rest.length : 1);
    if (values.length === 0 && !argument.optional)
      throw new UsageError(`${placeholder(argument)} is missing: ${argument.summary}`, helpHint(command));
    for (const value of values) oneOf(argument.choices, value, `<${argument.name}>`);
    args[argument.name] = argument.many ? values : values[0];
  }
  if (rest.length > 0)
    throw new UsageError(`"${rest[0]}" is more than \`porter ${command.name}\` takes.`, helpHint(command));
  return args as Call['args'];
}

export function placeholder({ name, optional, many }: Argument): string {
  const one = many ? `<${name}…>` : `<${name}>`;
  return optional ? `[${one}]` : one;
}

function oneOf(choices: readonly string[] | undefined, value: string, where: string): string {
  if (!choices || choices.includes(value)) return value;
  const hint = didYouMean(value, choices) ?? `Choose from: ${choices.join(', ')}.`;
  throw new UsageError(`${where}: "${value}" is not known.`, hint);
}

/** The command that the line begins with. */
function find(positionals: readonly string[], commands: readonly Command[]): Command | undefined {
  const line = `${positionals.join(' ')} `;
  return commands.find(({ name }) => line.startsWith(`${name} `));
}

/** The words themselves if they are a part of the tree. */
function inTree(words: readonly string[], commands: readonly Command[]): string {
  const line = words.join(' ');
  if (line === '' || commands.some(({ name }) => `${name} `.startsWith(`${line} `))) return line;
  const command = find(words, commands);
  if (command) return command.name;
  throw unknownCommand(words, commands);
}

function unknownCommand(words: readonly string[], commands: readonly Command[]): UsageError {
  const [group = ''] = words;
  const members = commands.filter(({ name }) => name.startsWith(`${group} `));
  if (members.length > 0) {
    const names = members.map(({ name }) => name.slice(group.length + 1));
    if (words.length === 1)
      return new UsageError(
        `\`porter ${group}\` needs one of: ${names.join(', ')}.`,
        `See \`porter ${group} --help\`.`,
      );
    const meant = didYouMean(words[1] ?? '', names, `porter ${group} `);
    return new UsageError(
      `\`porter ${group}\` has no command "${words[1]}".`,
      meant ?? `It has: ${names.join(', ')}.`,
    );
  }
  const first = nearest(group, new Set(commands.map(({ name }) => name.split(' ')[0] ?? '')));
  // The second word alone says little: every noun has a `list`.
  const both = didYouMean(
    words.slice(0, 2).join(' '),
    commands.map(({ name }) => name).filter((name) => name === first || name.startsWith(`${first} `)),
    'porter ',
  );
  return new UsageError(
    `There is no command "${group}".`,
    both ?? (first ? `Did you mean porter ${first}?` : 'See `porter --help` for all of them.'),
  );
}

/** Flags that people try. Others on the machine could read their values in the list of processes. */
const SECRET_FLAGS: Record<string, string> = {
  '--key': 'PORTER_KEY',
  '--api-key': 'PORTER_KEY',
  '--token': 'PORTER_OPERATOR_TOKEN',
  '--operator-token': 'PORTER_OPERATOR_TOKEN',
  '--secret': 'WEBHOOK_SECRET',
};

function unknownOption(rawName: string, declared: Options, command?: Command): UsageError {
  const variable = SECRET_FLAGS[rawName];
  if (variable)
    return new UsageError(
      `${rawName} is not taken: everybody on this machine could read it in the list of processes.`,
      `Set ${variable}${variable.startsWith('PORTER_') ? ', or keep it in a profile with `porter profiles add`' : ''}.`,
    );
  return new UsageError(
    `There is no option ${rawName}${command ? ` for \`porter ${command.name}\`` : ''}.`,
    didYouMean(rawName.replace(/^-+/, ''), Object.keys(declared), '--') ?? helpHint(command),
  );
}

function helpHint(command?: Command): string {
  return `See \`porter ${command ? `${command.name} ` : ''}--help\`.`;
}
