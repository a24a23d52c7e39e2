import { defineCommand } from '../command.ts';
import { exitCodes } from '../exit.ts';
import { inLine } from '../printer.ts';

interface Verdict {
  ok: boolean;
  entries: number;
  first_bad?: number;
}

export const auditCommands = [
  defineCommand({
    name: 'audit verify',
    section: 'operator',
    calls: 'operator',
    summary: 'Verify the audit trail: no entry was altered, removed or moved.',
    examples: ['audit verify'],
    async run({ api, out }) {
      const verdict = await api.operator<Verdict>('GET', '/audit/verify');
      out.document(verdict, () =>
        verdict.ok
          ? `${out.paint('green', 'Whole')}${inLine(`: ${verdict.entries} entries, each as it was written.`)}`
          : `${out.paint('red', 'Altered')}${inLine(`: entry ${verdict.first_bad} of ${verdict.entries} is the first that does not fit the one before.`)}`,
      );
      return verdict.ok ? exitCodes.ok : exitCodes.failed;
    },
  }),
];
