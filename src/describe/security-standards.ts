import { z } from 'zod';

/** The rows of security standards, docs/safety/security-standards.json, and the page that is made of them. */

const named = { id: z.string().regex(/^[A-Z]+\d+$/), title: z.string() };

const row = z.union([
  z.strictObject({
    ...named,
    answer: z.string(),
    /** A file, and after `#` a name in it. */
    code: z.array(z.string()).min(1),
    tests: z.array(z.strictObject({ file: z.string(), title: z.string() })).min(1),
  }),
  z.strictObject({
    ...named,
    not_applicable: z.string(),
    /** Regular expressions that no source may match as long as the row is not applicable. */
    absent: z.array(z.string()).min(1),
  }),
]);

export const securityStandards = z.strictObject({
  standards: z.array(z.strictObject({ title: z.string(), rows: z.array(row).min(1) })),
  gaps: z.array(z.strictObject({ gap: z.string(), effect: z.string(), until_then: z.string() })),
});

export function securityPage(text: string): string {
  const { standards, gaps } = securityStandards.parse(JSON.parse(text));
  const code = (names: readonly string[]) => names.map((name) => `\`${name}\``).join(' ');
  return [
    '<!-- Made by `npm run generate` from docs/safety/security-standards.json. Change it there. -->',
    '',
    '# Security standards',
    '',
    'Each row of the usual lists, and each mechanism of Porter, names its code and its tests. A test fails when named code or a named test is gone.',
    'It also fails when a row is *not applicable* and a source has the feature. The data, with the title of each test, is `docs/safety/security-standards.json`.',
    'The [gaps](#gaps) are at the end.',
    '',
    'For example, no operation answers without a key or a token:',
    '',
    '```sh',
    "curl -sS -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:8080/operator/v1/partners",
    '```',
    '',
    '```text output',
    '401',
    '```',
    ...standards.flatMap(({ title, rows }) => [
      '',
      `## ${title}`,
      '',
      '| | Answered by | Code; tests |',
      '|---|---|---|',
      ...rows.map((one) => {
        const name = `**${one.id}** ${one.title}`;
        if ('not_applicable' in one) return `| ${name} | *Not applicable.* ${one.not_applicable} | |`;
        const files = new Set(one.tests.map(({ file }) => file.replace(/^.*\//, '')));
        return `| ${name} | ${one.answer} | ${code(one.code)}; ${code([...files])} |`;
      }),
    ]),
    '',
    '## Gaps',
    '',
    'Porter does not have these yet, or leaves them to others.',
    '',
    '| Gap | Effect | Until then |',
    '|---|---|---|',
    ...gaps.map(({ gap, effect, until_then }) => `| ${gap} | ${effect} | ${until_then} |`),
    '',
  ].join('\n');
}
