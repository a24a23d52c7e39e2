import type { Api } from './api.ts';
import type { Printer } from './printer.ts';
import type { World } from './world.ts';

/** The commands are data: parsing, help and the listing in the guide all come from them. */

export interface Option {
  /** What stands for the value in the help, such as `url`. An option without it is a switch. */
  value?: string;
  summary: string;
  required?: true;
  /** Given several times, or once with commas. */
  many?: true;
  choices?: readonly string[];
}

export interface Argument {
  name: string;
  summary: string;
  optional?: true;
  /** One or more; only the last argument can be. */
  many?: true;
  choices?: readonly string[];
}

export type Options = Record<string, Option>;
export type Arguments = readonly Argument[];

type OptionValue<O extends Option> = O extends { value: string }
  ? O extends { many: true }
    ? string[]
    : O extends { required: true }
      ? string
      : string | undefined
  : boolean;

type ArgumentValue<A extends Argument> = A extends { many: true }
  ? string[]
  : A extends { optional: true }
    ? string | undefined
    : string;

/** What a command is run with. */
export interface Call<A extends Arguments = Arguments, O extends Options = Options> {
  args: { [One in A[number] as One['name']]: ArgumentValue<One> };
  options: { [Name in keyof O]: OptionValue<O[Name]> };
  world: World;
  out: Printer;
  api: Api;
  /** All that this command line has. */
  commands: readonly Command[];
}

export const sections = {
  setUp: 'Set up and look around',
  partner: 'For partners',
  both: 'For partners and operators',
  operator: 'For operators',
} as const;

interface Declaration<A extends Arguments, O extends Options> {
  /** All its words, such as `keys issue`. */
  name: string;
  section: keyof typeof sections;
  summary: string;
  details?: string;
  /** Whom it calls with: decides which of the options that all share it takes. */
  calls: 'partner' | 'operator' | 'either' | 'nobody';
  arguments?: A;
  options?: O;
  /** Command lines without `porter`. */
  examples: readonly [string, ...string[]];
  /** Resolves to the exit code, 0 if to nothing. */
  run(call: Call<A, O>): Promise<number> | Promise<void>;
}

export type Command = Omit<Declaration<Arguments, Options>, 'run'> & {
  run(call: Call): Promise<number> | Promise<void>;
};

export function defineCommand<const A extends Arguments = [], const O extends Options = Record<never, never>>(
  declaration: Declaration<A, O>,
): Command {
  // The parser gives each command exactly the arguments and options that it declares.
  return declaration as unknown as Command;
}

const everywhere: Options = {
  json: { summary: 'Print JSON, for programs.' },
  help: { summary: 'Show help.' },
};

const connection: Options = {
  profile: { value: 'name', summary: 'Use this profile (see `porter profiles`).' },
  url: { value: 'url', summary: 'Where the service is.' },
};

const acting: Options = {
  group: { value: 'id', summary: 'The practice group to act for.' },
};

export function optionsOf({ calls, options }: Pick<Command, 'calls' | 'options'>): Options {
  return {
    ...(calls !== 'nobody' && connection),
    ...((calls === 'partner' || calls === 'either') && acting),
    ...everywhere,
    ...options,
  };
}
