import { defineCommand } from '../command.ts';
import { Failure } from '../exit.ts';

/** These two are the service itself. Its modules are loaded only when they are wanted. */
const entrance = () => import('../../service/main.ts');

export const serviceCommands = [
  defineCommand({
    name: 'serve',
    section: 'setUp',
    calls: 'nobody',
    summary: 'Run the service in this terminal, like `npm start`.',
    details:
      'Its settings come from the environment. It writes its log to stdout: readable lines on a terminal, and a JSON line for each entry elsewhere.',
    examples: ['serve'],
    async run({ world: { env, cwd, stdout, stderr, stop } }) {
      const [{ serve }, { readable }] = await Promise.all([entrance(), import('../../platform/logger.ts')]);
      const log = (line: string) => stdout.write(stdout.isTTY ? readable(line) : line);
      const say = (text: string) => stderr.write(text);
      return serve({ env, cwd, log, say, isTerminal: stderr.isTTY === true, stop });
    },
  }),
  defineCommand({
    name: 'migrate',
    section: 'setUp',
    calls: 'nobody',
    summary: 'Migrate the database, and end.',
    details:
      'The database is the one in DATABASE_URL, or the embedded one in PORTER_DATA_DIR (`.porter` unless set), which no service may be using. The service does the same when it starts.',
    examples: ['migrate'],
    async run({ out, world: { env, cwd } }) {
      const { migrate, explained } = await entrance();
      const work = migrate({ env, cwd, log: () => {} }).catch((error) => {
        throw new Failure(`Nothing was migrated. ${explained(error)}`);
      });
      const applied = await out.during('Bringing the database up to date', work);
      out.document({ applied }, () =>
        applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`,
      );
    },
  }),
];
